'use client';

import type { DialogProps } from './dialog-view.tsx';
import { onDemand } from './on-demand.ts';

const view = onDemand(() => import('./dialog-view.tsx').then((module) => module.DialogView));

/** A question or a short form over the page. Focus is kept inside and returns to what opened it; on a phone it rises from the bottom edge. */
export function Dialog(props: DialogProps) {
  const View = view.use(props.open);
  return View ? <View {...props} /> : null;
}
