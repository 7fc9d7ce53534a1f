'use client';

import { Tooltip as Base } from '@base-ui/react/tooltip';
import { type ReactElement, type ReactNode, useId } from 'react';

export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Base.Provider delay={350} closeDelay={0}>
    {children}
  </Base.Provider>
);

export type TooltipProps = {
  content: ReactNode;
  /** One focusable element; it becomes the trigger. A tooltip only repeats or extends what its name already says. */
  children: ReactElement<Record<string, unknown>>;
  side?: 'top' | 'bottom' | 'left' | 'right';
  align?: 'start' | 'center' | 'end';
};

export function Tooltip({ content, children, side = 'top', align = 'center' }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger render={children} closeOnClick={false} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={6} className="z-60">
          <Base.Popup className="popup-motion max-w-72 rounded-md border border-line-strong bg-overlay px-2 py-1 text-ink text-xs shadow-overlay">
            {content}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/**
 * Wraps a control that is disabled, so that mouse, keyboard and screen reader users all learn why.
 * Without a reason the control is rendered as it is. `Button` and `Switch` have it built in as `disabledReason`.
 */
export function DisabledReason({ reason, children }: { reason: string | undefined; children: ReactElement<Record<string, unknown>> }) {
  const id = useId();
  if (!reason) return children;
  return (
    <Tooltip content={reason}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a disabled control cannot take focus itself, so its reason would be out of reach. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would change the form's structure. */}
      <span role="group" tabIndex={0} aria-describedby={id} className="inline-flex rounded-md">
        {children}
        <span id={id} className="sr-only">
          {reason}
        </span>
      </span>
    </Tooltip>
  );
}
