'use client';

import type { ReactElement, ReactNode } from 'react';
import { onDemand } from './on-demand.ts';
import { usePopupTrigger } from './popup-trigger.ts';

const popup = onDemand(() => import('./menu-popup.tsx').then((module) => module.MenuPopup));

export type MenuAction = {
  label: ReactNode;
  icon?: ReactNode;
  /** A quiet second line. */
  detail?: ReactNode;
  href?: string;
  onSelect?: () => void;
  danger?: boolean;
  /** Given, the item is a choice and shows whether it is the current one. */
  checked?: boolean;
  keys?: string;
  /** The item stays in the list, cannot be chosen and says why. */
  disabledReason?: string | undefined;
};
export type MenuEntry = MenuAction | { heading: ReactNode } | 'separator';

export type MenuProps = {
  /** The button; it gets the menu's aria attributes. */
  trigger: ReactElement<Record<string, unknown>>;
  entries: readonly MenuEntry[];
  align?: 'start' | 'center' | 'end';
  side?: 'bottom' | 'top' | 'right';
  className?: string;
};

export function Menu({ trigger, ...list }: MenuProps) {
  const { button, state } = usePopupTrigger(trigger, 'menu', popup.fetch);
  const Popup = popup.use(state?.open ?? false);
  return (
    <>
      {button}
      {Popup && state && <Popup state={state} {...list} />}
    </>
  );
}
