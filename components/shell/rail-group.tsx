'use client';

import { ChevronRight, Lock } from 'lucide-react';
import { useId } from 'react';
import { usePreferences } from '#components/theme/preferences-provider.tsx';
import { cn } from '#components/ui/cn.ts';
import { Link } from '#components/ui/link.tsx';
import { onDemand } from '#components/ui/on-demand.ts';
import { Tooltip } from '#components/ui/tooltip.tsx';
import { RAIL_GROUPS } from '#server/domain/people/places.shared.ts';
import type { ArrangedGroup } from './arrangement.ts';
import { hrefOf, type Place } from './navigation.ts';
import type { SeenItem } from './use-navigation.ts';

// Nobody pins before the page is there, and nothing waits that long.
const railCount = onDemand(() => import('./rail-count.tsx').then((module) => module.RailCount));
const pinButton = onDemand(() => import('./pin-button.tsx').then((module) => module.PinButton));

type RailGroupProps = {
  group: ArrangedGroup<SeenItem>;
  place: Place;
  /** The id of the page that is open. */
  active: string | undefined;
  /** Of the whole rail: icons only, and nothing to fold or pin. */
  collapsed: boolean;
  onNavigate: (() => void) | undefined;
};

/** A group of the rail. Folded, it still shows the page that is open: nobody should have to look for where they are. */
export function RailGroup({ group, place, active, collapsed, onNavigate }: RailGroupProps) {
  const { preferences, save } = usePreferences();
  const { label } = group;
  const id = RAIL_GROUPS.find((known) => known === group.id);
  const folded = preferences.rail_folded;
  const isFolded = id !== undefined && !collapsed && folded.includes(id);
  const items = isFolded ? group.items.filter((item) => item.id === active) : group.items;
  return (
    <div className="flex flex-col gap-px">
      {label && collapsed && <hr className="mx-2 mb-2 border-line" />}
      {label && !collapsed && (
        <h2 className="font-medium text-2xs text-ink-3 tracking-normal">
          {id ? (
            <button
              type="button"
              aria-expanded={!isFolded}
              onClick={() => save({ rail_folded: isFolded ? folded.filter((one) => one !== id) : [...folded, id] })}
              className="group/fold flex min-h-6 w-full items-center gap-1 rounded-sm px-2 text-left hover:text-ink"
            >
              {label}
              <ChevronRight
                aria-hidden
                className={cn(
                  'size-3 transition-[rotate,opacity]',
                  isFolded ? '' : 'rotate-90 opacity-0 group-hover/fold:opacity-100 group-focus-visible/fold:opacity-100',
                )}
              />
            </button>
          ) : (
            <span className="block px-2 pb-1">{label}</span>
          )}
        </h2>
      )}
      {items.map((item) => (
        <RailLink
          key={item.id}
          item={item}
          href={hrefOf(item, place)}
          active={item.id === active}
          collapsed={collapsed}
          onNavigate={onNavigate}
        />
      ))}
    </div>
  );
}

type RailLinkProps = Pick<RailGroupProps, 'collapsed' | 'onNavigate'> & { item: SeenItem; href: string; active: boolean };

function RailLink({ item, href, active, collapsed, onNavigate }: RailLinkProps) {
  const { icon: Icon, locked } = item;
  const PinButton = pinButton.use(false);
  const RailCount = railCount.use(false);
  const id = useId();
  const link = (
    <Link
      href={href}
      onClick={onNavigate}
      aria-current={active ? 'page' : undefined}
      aria-describedby={locked ? id : undefined}
      className={cn(
        'flex h-8 min-w-0 flex-1 items-center gap-2.5 rounded-md text-sm transition-colors max-lg:h-9',
        collapsed ? 'justify-center' : 'px-2',
        active ? 'bg-pressed/80 font-medium text-ink' : 'hover:bg-subtle hover:text-ink',
        !active && (locked ? 'text-ink-3' : 'text-ink-2'),
      )}
    >
      <Icon aria-hidden className={cn('size-4 shrink-0', active ? 'text-accent-ink' : 'text-ink-3')} strokeWidth={1.75} />
      <span className={cn('truncate', collapsed && 'sr-only')}>{item.label}</span>
      {item.waiting && !locked && !collapsed && RailCount && <RailCount />}
      {locked && !collapsed && <Lock aria-hidden className="ml-auto size-3.5 shrink-0 text-ink-3" strokeWidth={1.75} />}
    </Link>
  );
  if (!collapsed && !locked) {
    return (
      <div className="group/row relative flex">
        {link}
        {PinButton && <PinButton item={item} />}
      </div>
    );
  }
  return (
    <>
      <Tooltip content={[collapsed && item.label, locked].filter(Boolean).join(': ')} side="right">
        {link}
      </Tooltip>
      {locked && (
        <span id={id} className="sr-only">
          Locked: {locked}
        </span>
      )}
    </>
  );
}
