'use client';

import { useStored } from '#components/ui/use-stored.ts';

const HEIGHT = 320;

/** Whether the pane is open in this browser, and how high; both are kept for the next visit. */
export function useDevPane() {
  const [open, setOpen] = useStored('dev-pane', 'closed');
  const [height, setHeight] = useStored('dev-pane-height', HEIGHT.toString());
  return {
    open: open === 'open',
    setOpen: (next: boolean) => setOpen(next ? 'open' : 'closed'),
    height: Number.parseInt(height, 10) || HEIGHT,
    setHeight: (next: number) => setHeight(next.toString()),
  };
}
