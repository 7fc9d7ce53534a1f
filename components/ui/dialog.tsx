'use client';

import type { ReactNode, RefObject } from 'react';
import { onDemand } from './on-demand.ts';

const view = onDemand(() => import('./dialog-view.tsx').then((module) => module.DialogView));

export type DialogProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons, the main one last. */
  footer?: ReactNode;
  size?: 'sm' | 'md' | 'lg';
  /** False: only the buttons close it, for what must not be lost by a stray click or Esc. */
  dismissible?: boolean;
  initialFocus?: RefObject<HTMLElement | null>;
};

/** A question or a short form over the page. Focus is kept inside and returns to what opened it; on a phone it rises from the bottom edge. */
export function Dialog(props: DialogProps) {
  const View = view.use(props.open);
  return View ? <View {...props} /> : null;
}
