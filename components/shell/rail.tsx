'use client';

import { Lock, PanelLeft } from 'lucide-react';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { type ReactNode, useId } from 'react';
import { IconButton } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { Tooltip } from '#components/ui/tooltip.tsx';
import { Mark, Wordmark } from './mark.tsx';
import { activeItem, hrefOf, type NavItem, type Place } from './navigation.ts';
import { useNavigation } from './use-navigation.ts';

export type RailProps = {
  place: Place;
  collapsed: boolean;
  onToggle?: () => void;
  onNavigate?: () => void;
  /** Below the groups: the checklist's ring, plan usage. Hidden while collapsed. */
  foot?: ReactNode;
};

/** The groups of pages. Collapsed, it shows icons whose names stand in tooltips and for screen readers. */
export function Rail({ place, collapsed, onToggle, onNavigate, foot }: RailProps) {
  const active = activeItem(usePathname(), place);
  const groups = useNavigation();
  return (
    <div className="flex h-full flex-col">
      <div className={cn('flex h-(--topbar-height) shrink-0 items-center', collapsed ? 'justify-center' : 'justify-between pr-2 pl-4')}>
        <Link href={`/${place.slug}/${place.space}`} onClick={onNavigate} aria-label="Sallyport, home" className="rounded-md">
          {collapsed ? <Mark /> : <Wordmark />}
        </Link>
        {onToggle && !collapsed && (
          <IconButton
            size="sm"
            label="Collapse navigation"
            keys="mod+b"
            icon={<PanelLeft />}
            onClick={onToggle}
            tooltipSide="right"
            className="text-ink-3"
          />
        )}
      </div>
      <nav
        aria-label="Pages"
        className={cn('flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto pt-1 pb-4 [scrollbar-width:thin]', collapsed ? 'px-2' : 'px-3')}
      >
        {groups.map((group) => (
          <div key={group.id} className="flex flex-col gap-px">
            {group.label &&
              (collapsed ? (
                <hr className="mx-2 mb-2 border-line" />
              ) : (
                <h2 className="px-2 pb-1 font-medium text-2xs text-ink-3 tracking-normal">{group.label}</h2>
              ))}
            {group.items.map((item) => (
              <RailLink
                key={item.id}
                item={item}
                href={hrefOf(item, place)}
                active={item.id === active?.id}
                collapsed={collapsed}
                onNavigate={onNavigate}
                locked={item.locked}
              />
            ))}
          </div>
        ))}
      </nav>
      {collapsed && onToggle ? (
        <div className="flex justify-center pb-3">
          <IconButton
            label="Expand navigation"
            keys="mod+b"
            icon={<PanelLeft />}
            onClick={onToggle}
            tooltipSide="right"
            className="text-ink-3"
          />
        </div>
      ) : (
        foot && <div className="border-line border-t p-3">{foot}</div>
      )}
    </div>
  );
}

type RailLinkProps = {
  item: NavItem;
  href: string;
  active: boolean;
  collapsed: boolean;
  onNavigate: (() => void) | undefined;
  /** Who may open it, when the person's role may not. The page says the same at length. */
  locked: string | undefined;
};

function RailLink({ item, href, active, collapsed, onNavigate, locked }: RailLinkProps) {
  const Icon = item.icon;
  const id = useId();
  const link = (
    <Link
      href={href}
      onClick={onNavigate}
      aria-current={active ? 'page' : undefined}
      aria-describedby={locked ? id : undefined}
      className={cn(
        'flex h-8 items-center gap-2.5 rounded-md text-sm transition-colors max-lg:h-9',
        collapsed ? 'justify-center' : 'px-2',
        active ? 'bg-pressed/80 font-medium text-ink' : 'hover:bg-subtle hover:text-ink',
        !active && (locked ? 'text-ink-3' : 'text-ink-2'),
      )}
    >
      <Icon aria-hidden className={cn('size-4 shrink-0', active ? 'text-accent-ink' : 'text-ink-3')} strokeWidth={1.75} />
      <span className={cn('truncate', collapsed && 'sr-only')}>{item.label}</span>
      {locked && !collapsed && <Lock aria-hidden className="ml-auto size-3.5 shrink-0 text-ink-3" strokeWidth={1.75} />}
    </Link>
  );
  if (!collapsed && !locked) return link;
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
