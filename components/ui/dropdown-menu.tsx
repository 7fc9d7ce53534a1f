'use client';

import type { ReactElement } from 'react';
import type { MenuListProps } from './menu-popup.tsx';
import { onDemand } from './on-demand.ts';
import { usePopupTrigger } from './popup-trigger.ts';

const popup = onDemand(() => import('./menu-popup.tsx').then((module) => module.MenuPopup));

export type { MenuAction, MenuEntry } from './menu-popup.tsx';

export type MenuProps = MenuListProps & {
  /** The button; it gets the menu's aria attributes. */
  trigger: ReactElement<Record<string, unknown>>;
};

/** A list of actions, links or choices behind a button. */
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
