'use client';

import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { scrim } from '#components/ui/scrim.ts';

/** The rail on narrow windows, over the page. */
export function Drawer({ open, onOpenChange, children }: { open: boolean; onOpenChange: (open: boolean) => void; children: ReactNode }) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className={scrim} />
        <Base.Popup
          aria-modal="true"
          aria-label="Pages"
          className="fixed inset-y-0 left-0 z-50 w-72 max-w-[84vw] border-line-strong border-r bg-canvas shadow-overlay outline-none transition-[translate,opacity] duration-200 ease-out data-ending-style:-translate-x-8 data-starting-style:-translate-x-8 data-ending-style:opacity-0 data-starting-style:opacity-0"
        >
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
