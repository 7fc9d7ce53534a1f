'use client';

import { SlidersHorizontal } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '#components/ui/button.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import type { HomeCard } from './cards.ts';

const CardsSheet = lazyOverlay(() => import('./cards-sheet.tsx').then((module) => module.CardsSheet), whenOpen);

/** The way to hide and move the cards of Home; those that this installation cannot fill are `missing`. */
export function ArrangeCards({ missing }: { missing: readonly HomeCard[] }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton size="sm" label="Customize cards" icon={<SlidersHorizontal />} onClick={() => setOpen(true)} tooltipSide="bottom" />
      <CardsSheet missing={missing} open={open} onOpenChange={setOpen} />
    </>
  );
}
