'use client';

import type { KeyboardEvent, PointerEvent } from 'react';

const LEAST = 160;
const STEP = 40;
/** What of the window the pane may take. */
const MOST = 0.8;

/** The upper edge of the pane: dragged, or moved with the arrow keys. */
export function PaneEdge({ height, onHeight }: { height: number; onHeight: (height: number) => void }) {
  const set = (next: number) => onHeight(Math.round(Math.min(Math.max(next, LEAST), window.innerHeight * MOST)));
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) set(window.innerHeight - event.clientY);
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    set(height + step);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot take focus or a value; this is the window splitter pattern.
    <div
      role="separator"
      aria-label="Height of the developer pane"
      aria-orientation="horizontal"
      aria-valuenow={height}
      aria-valuemin={LEAST}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={key}
      className="absolute inset-x-0 -top-1 z-10 h-2 cursor-row-resize touch-none after:absolute after:inset-x-0 after:top-1 after:h-px hover:after:h-0.5 hover:after:bg-focus"
    />
  );
}
