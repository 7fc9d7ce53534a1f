'use client';

import type { KeyboardEvent, PointerEvent } from 'react';
import { cn } from './cn.ts';

const STEP = 40;

export type ResizeHandleProps = {
  /** Which edge of its panel it is; the panel is positioned. */
  side: 'left' | 'top';
  /** What is measured, for screen readers: "Width of the panel". */
  label: string;
  /** Pixels between this edge and the opposite one of the window. */
  size: number;
  onSize: (size: number) => void;
  /** The smallest size in pixels, and the largest as a share of the window. */
  least: number;
  most: number;
};

/** The edge of a panel that is dragged, or moved with the arrow keys (the window splitter pattern). */
export function ResizeHandle({ side, label, size, onSize, least, most }: ResizeHandleProps) {
  const upright = side === 'left';
  const extent = () => (upright ? window.innerWidth : window.innerHeight);
  const set = (next: number) => onSize(Math.round(Math.min(Math.max(next, least), extent() * most)));
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) set(extent() - (upright ? event.clientX : event.clientY));
  };
  const key = (event: KeyboardEvent) => {
    const steps: Record<string, number> = upright ? { ArrowLeft: STEP, ArrowRight: -STEP } : { ArrowUp: STEP, ArrowDown: -STEP };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    set(size + step);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot take focus or a value; this is the window splitter pattern.
    <div
      role="separator"
      aria-label={label}
      aria-orientation={upright ? 'vertical' : 'horizontal'}
      aria-valuenow={size}
      aria-valuemin={least}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={key}
      className={cn(
        'absolute z-10 touch-none after:absolute hover:after:bg-focus',
        upright
          ? 'inset-y-0 -left-1 w-2 cursor-col-resize after:inset-y-0 after:left-1 after:w-px hover:after:w-0.5 max-sm:hidden'
          : 'inset-x-0 -top-1 h-2 cursor-row-resize after:inset-x-0 after:top-1 after:h-px hover:after:h-0.5',
      )}
    />
  );
}
