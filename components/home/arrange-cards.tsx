'use client';

import { SlidersHorizontal } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '#components/ui/button.tsx';
import { lazily, whenOpen } from '#components/ui/lazily.tsx';

const CardsSheet = lazily(() => import('./cards-sheet.tsx').then((module) => module.CardsSheet), whenOpen);

/** The way to hide and move the cards of Home. */
export function ArrangeCards() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton size="sm" label="Arrange the cards" icon={<SlidersHorizontal />} onClick={() => setOpen(true)} tooltipSide="bottom" />
      <CardsSheet open={open} onOpenChange={setOpen} />
    </>
  );
}
