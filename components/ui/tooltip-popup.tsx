'use client';

import { Tooltip as Base } from '@base-ui/react/tooltip';
import type { ReactNode } from 'react';
import { useLayerHost } from './layer-host.ts';
import { closing } from './popup-trigger.ts';

export type TooltipPopupProps = {
  anchor: Element;
  open: boolean;
  onClose: () => void;
  /** The pointer is over the words themselves: they stay (WCAG 1.4.13). */
  onReach: () => void;
  onLeave: () => void;
  content: ReactNode;
  side: 'top' | 'bottom' | 'left' | 'right';
  align: 'start' | 'center' | 'end';
};

/** The words of a tooltip, beside what they are about. */
export function TooltipPopup({ anchor, open, onClose, onReach, onLeave, content, side, align }: TooltipPopupProps) {
  const host = useLayerHost();
  return (
    // A press on the control itself may change what the words say ("Copied"), so they stay.
    <Base.Root open={open} onOpenChange={closing({ anchor, close: onClose })}>
      <Base.Portal container={host}>
        <Base.Positioner anchor={anchor} side={side} align={align} sideOffset={6} className="z-60">
          <Base.Popup
            onPointerEnter={onReach}
            onPointerLeave={onLeave}
            className="popup-motion max-w-72 rounded-md border border-line-strong bg-overlay px-2 py-1 text-ink text-xs shadow-overlay"
          >
            {content}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
