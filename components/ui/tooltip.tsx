'use client';

import {
  cloneElement,
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { onDemand } from './on-demand.ts';

const popup = onDemand(() => import('./tooltip-popup.tsx').then((module) => module.TooltipPopup));

/** A pointer that only passes over opens nothing; from one to the next the words come at once. */
const DELAY_MS = 350;
const NEXT_MS = 400;
/** The way of the pointer from the control to its words. */
const REACH_MS = 80;
let closedAt = Number.NEGATIVE_INFINITY;

type Handlers = {
  onPointerEnter?: (event: PointerEvent<Element>) => void;
  onPointerLeave?: (event: PointerEvent<Element>) => void;
  onFocus?: (event: FocusEvent<Element>) => void;
  onBlur?: (event: FocusEvent<Element>) => void;
};

export type TooltipProps = {
  content: ReactNode;
  /** One focusable element; it becomes the trigger. A tooltip only repeats or extends what its name already says. */
  children: ReactElement<Record<string, unknown>>;
  side?: 'top' | 'bottom' | 'left' | 'right';
  align?: 'start' | 'center' | 'end';
};

/** Words beside a control, on hovering and on focus by keyboard; their code is fetched when somebody comes near. */
export function Tooltip({ content, children, side = 'top', align = 'center' }: TooltipProps) {
  const [anchor, setAnchor] = useState<Element>();
  const [open, setOpen] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const Popup = popup.use(false);
  const show = (at: Element, delay: number) => {
    popup.fetch();
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setAnchor(at);
      setOpen(true);
    }, delay);
  };
  const hide = (delay = 0) => {
    clearTimeout(timer.current);
    if (!open) return;
    timer.current = setTimeout(() => {
      closedAt = performance.now();
      setOpen(false);
    }, delay);
  };
  const own = children.props as Handlers;
  const handlers: Handlers = {
    onPointerEnter: (event) => {
      own.onPointerEnter?.(event);
      if (event.pointerType !== 'touch') show(event.currentTarget, performance.now() - closedAt < NEXT_MS ? 0 : DELAY_MS);
    },
    onPointerLeave: (event) => {
      own.onPointerLeave?.(event);
      hide(REACH_MS);
    },
    onFocus: (event) => {
      own.onFocus?.(event);
      if (event.currentTarget.matches(':focus-visible')) show(event.currentTarget, 0);
    },
    onBlur: (event) => {
      own.onBlur?.(event);
      hide();
    },
  };
  return (
    <>
      {cloneElement(children, handlers)}
      {Popup && anchor && (
        <Popup
          {...{ anchor, open, content, side, align }}
          onClose={() => hide()}
          onReach={() => clearTimeout(timer.current)}
          onLeave={() => hide(REACH_MS)}
        />
      )}
    </>
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
