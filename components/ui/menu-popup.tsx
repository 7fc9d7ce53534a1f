'use client';

import { Menu as Base } from '@base-ui/react/menu';
import { Check } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from '#components/ui/link.tsx';
import { cn } from './cn.ts';
import { Kbd } from './kbd.tsx';
import { useLayerHost } from './layer-host.ts';
import { listItem } from './list-item.ts';
import { closing, type PopupState } from './popup-trigger.ts';

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

export type MenuListProps = {
  entries: readonly MenuEntry[];
  align?: 'start' | 'center' | 'end';
  side?: 'bottom' | 'top' | 'right';
  className?: string;
};

/** The list of a menu, beside its button. */
export function MenuPopup({ state, entries, align = 'end', side = 'bottom', className }: MenuListProps & { state: PopupState }) {
  const host = useLayerHost();
  const list = useRef<HTMLDivElement>(null);
  const begun = useRef(false);
  useEffect(() => {
    if (!state.open) begun.current = false;
  }, [state.open]);
  const begin = () => {
    if (!begun.current && state.from) ends(list.current)[state.from]?.focus();
    begun.current = true;
  };
  return (
    <Base.Root open={state.open} onOpenChange={closing(state)}>
      <Base.Portal container={host}>
        <Base.Positioner anchor={state.anchor} align={align} side={side} sideOffset={4} className="z-50 outline-none">
          <Base.Popup
            ref={list}
            id={state.id}
            aria-labelledby={state.anchor.id}
            // Opened by keyboard, a menu begins at its first item, or by the up arrow at its last.
            onFocus={({ target, currentTarget }) => target === currentTarget && begin()}
            // On from the button, as if the list had stood behind it.
            onKeyDown={({ key }) => {
              if (key !== 'Tab') return;
              state.anchor.focus();
              state.close();
            }}
            className={cn('popup-motion popup-surface max-h-(--available-height) min-w-44 max-w-80 overflow-y-auto p-1', className)}
          >
            {groups(entries).map((group, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries are given whole on each render.
              <Base.Group key={index} className={cn(index > 0 && 'mt-1 border-line border-t pt-1')}>
                {group.heading && <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-ink-3 text-xs">{group.heading}</Base.GroupLabel>}
                {group.actions.map((action, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above.
                  <Item key={at} {...action} />
                ))}
              </Base.Group>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** The first and the last item. */
function ends(list: HTMLElement | null): { first: HTMLElement | undefined; last: HTMLElement | undefined } {
  const items = [...(list?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
  return { first: items[0], last: items.at(-1) };
}

function Item({ label, icon, detail, href, onSelect, danger, checked, keys, disabledReason }: MenuAction) {
  const look = cn(
    listItem,
    '[&>svg]:size-4 [&>svg]:text-ink-3',
    danger && 'text-bad-ink data-highlighted:bg-bad-soft [&>svg]:text-bad-ink',
  );
  const body = (
    <>
      {icon}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{label}</span>
        {(disabledReason ?? detail) && <span className="block text-ink-3 text-xs">{disabledReason ?? detail}</span>}
      </span>
      {keys && <Kbd keys={keys} />}
      {checked && <Check aria-hidden className="text-accent-ink!" />}
    </>
  );
  if (checked !== undefined) {
    return (
      <Base.CheckboxItem
        checked={checked}
        onCheckedChange={() => onSelect?.()}
        closeOnClick
        disabled={Boolean(disabledReason)}
        className={look}
      >
        {body}
      </Base.CheckboxItem>
    );
  }
  if (href && !disabledReason) {
    return (
      <Base.LinkItem render={<Link href={href} />} closeOnClick className={look}>
        {body}
      </Base.LinkItem>
    );
  }
  return (
    <Base.Item disabled={Boolean(disabledReason)} onClick={onSelect} className={look}>
      {body}
    </Base.Item>
  );
}

/** Cuts the flat list at its separators and headings. */
function groups(entries: readonly MenuEntry[]): { heading?: ReactNode; actions: MenuAction[] }[] {
  const out: { heading?: ReactNode; actions: MenuAction[] }[] = [{ actions: [] }];
  for (const entry of entries) {
    if (entry === 'separator') out.push({ actions: [] });
    else if ('heading' in entry) out.push({ heading: entry.heading, actions: [] });
    else out.at(-1)?.actions.push(entry);
  }
  return out.filter((group) => group.actions.length > 0);
}
