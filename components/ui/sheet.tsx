'use client';

import type { ReactNode } from 'react';
import { onDemand } from './on-demand.ts';

const view = onDemand(() => import('./sheet-view.tsx').then((module) => module.SheetView));

export type SheetProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  /** Beside the close button: copy link, previous, next. */
  actions?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  size?: 'sm' | 'md' | 'lg';
  /** False: the page behind stays usable, for a row's details next to its list. */
  modal?: boolean;
  /** The left edge can be dragged, or moved with the arrow keys. */
  resizable?: boolean;
  /** False: a click outside does not close it, for forms with something typed in. Esc and the close button still ask the caller. */
  dismissible?: boolean;
};

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
