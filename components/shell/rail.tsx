'use client';

import { PanelLeft } from 'lucide-react';
import { usePathname } from 'next/navigation';
import type { ReactNode } from 'react';
import { usePreferences } from '#components/theme/preferences-provider.tsx';
import { IconButton } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { Link } from '#components/ui/link.tsx';
import { arranged } from './arrangement.ts';
import { Mark, Wordmark } from './mark.tsx';
import { activeItem, type Place } from './navigation.ts';
import { RailGroup } from './rail-group.tsx';
import { useNavigation } from './use-navigation.ts';

export type RailProps = {
  place: Place;
  collapsed: boolean;
  onToggle?: () => void;
  onNavigate?: () => void;
  /** Below the groups: the checklist's ring, plan usage. Hidden while collapsed. */
  foot?: ReactNode;
};

/** The groups of pages as the person arranged them. Collapsed, it shows icons whose names stand in tooltips and for screen readers. */
export function Rail({ place, collapsed, onToggle, onNavigate, foot }: RailProps) {
  const active = activeItem(usePathname(), place);
  const { pins, rail_order } = usePreferences().preferences;
  const groups = arranged(useNavigation(), pins, rail_order);
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
          <RailGroup key={group.id} group={group} place={place} active={active?.id} collapsed={collapsed} onNavigate={onNavigate} />
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
