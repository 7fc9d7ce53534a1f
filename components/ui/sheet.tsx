'use client';

import type { ReactNode } from 'react';
import { onDemand } from './on-demand.ts';
import type { SheetProps } from './sheet-view.tsx';

const view = onDemand(() => import('./sheet-view.tsx').then((module) => module.SheetView));

/** A panel from the right edge: create and edit forms, details of a row. The whole width on a phone. */
export function Sheet(props: SheetProps) {
  const View = view.use(props.open);
  return View ? <View {...props} /> : null;
}

/** The buttons of a form inside a sheet: at the bottom of the panel whatever the length of the form. The form needs `grow`. */
export const SheetFooter = ({ children }: { children: ReactNode }) => (
  // What sticks, sticks inside the panel's padding: pulled down by it, or fields show through below the buttons.
  <div className="-bottom-4 sticky z-10 -mx-5 mt-auto -mb-4 flex flex-wrap items-center justify-between gap-3 border-line border-t bg-overlay px-5 py-3">
    {children}
  </div>
);
