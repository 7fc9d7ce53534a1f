'use client';

import {
  cloneElement,
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactElement,
  useId,
  useState,
} from 'react';

/** What a list opened by a button needs to know; it exists from the first opening on. */
export type PopupState = {
  id: string;
  anchor: HTMLElement;
  open: boolean;
  /** Where the keyboard begins; undefined when a pointer opened it. */
  from: 'first' | 'last' | undefined;
  close: () => void;
};

type Handlers = {
  id?: string | undefined;
  onClick?: (event: MouseEvent<HTMLElement>) => void;
  onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void;
  onPointerEnter?: (event: PointerEvent<HTMLElement>) => void;
  onFocus?: (event: FocusEvent<HTMLElement>) => void;
};

/**
 * A button with what makes it open a menu or a list of options, whose code is fetched when the pointer or the keyboard comes near: the button
 * works before that, and is the same element afterwards.
 */
export function usePopupTrigger(trigger: ReactElement<Record<string, unknown>>, kind: 'menu' | 'listbox', near: () => void) {
  const own = trigger.props as Handlers;
  const generated = useId();
  const id = own.id ?? `${generated}-button`;
  const listId = `${generated}-list`;
  const [state, setState] = useState<Omit<PopupState, 'id' | 'close'>>();
  const open = (anchor: HTMLElement, from: PopupState['from']) => {
    // Safari leaves the focus where it was when a button is clicked, and the list gives it back to where it was.
    anchor.focus({ preventScroll: true });
    setState({ anchor, open: true, from });
  };
  const handlers: Handlers = {
    onClick: (event) => {
      own.onClick?.(event);
      if (event.defaultPrevented) return;
      if (state?.open) setState({ ...state, open: false });
      else open(event.currentTarget, event.detail === 0 ? 'first' : undefined);
    },
    onKeyDown: (event) => {
      own.onKeyDown?.(event);
      const from = { ArrowDown: 'first', ArrowUp: 'last' }[event.key] as PopupState['from'];
      if (event.defaultPrevented || !from || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      open(event.currentTarget, from);
    },
    onPointerEnter: (event) => {
      own.onPointerEnter?.(event);
      near();
    },
    onFocus: (event) => {
      own.onFocus?.(event);
      near();
    },
  };
  const isOpen = state?.open ?? false;
  const button = cloneElement(trigger, {
    ...handlers,
    id,
    'aria-haspopup': kind,
    'aria-expanded': isOpen,
    'aria-controls': isOpen ? listId : undefined,
    'data-popup-open': isOpen ? '' : undefined,
  });
  const close = () => setState((now) => now && { ...now, open: false });
  return { button, state: state && { ...state, id: listId, close } };
}

/** For the `onOpenChange` of a list: a press on its own button is left to the button, which would open it again. */
export const closing =
  ({ anchor, close }: { anchor: Element; close: () => void }) =>
  (open: boolean, { reason, event }: { reason: string; event: Event }): void => {
    const own = reason === 'outside-press' && event.target instanceof Node && anchor.contains(event.target);
    if (!open && !own) close();
  };
