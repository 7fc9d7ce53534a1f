import type { inferRouterOutputs } from '@trpc/server';
import { nounOf } from '#components/shell/resources.ts';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import type { ActiveFilter } from '#components/ui/filter-bar.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { momentText, useTimeStyle } from '#components/ui/time-style.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import { verbOf } from './entry-text.ts';
import { type AuditSearch, isTime } from './list-search.ts';

type Facets = inferRouterOutputs<AppRouter>['auditLogs']['facets'];

const STORES = {
  critical: { label: 'Critical entries only', detail: 'Hash-chained and kept forever' },
  general: { label: 'Hide critical entries', detail: 'Also hides request log anchors' },
} as const;
/** Of each kind the menu offers those that occur most. */
const OFFERED = 10;

/** What the timeline is narrowed to, as chips, and the menu that narrows it. */
export function useTimelineFilters(
  search: AuditSearch,
  setSearch: (change: Partial<AuditSearch>) => unknown,
  facets: Facets | undefined,
): { active: ActiveFilter[]; choices: MenuEntry[] } {
  const style = useTimeStyle();
  const set = (change: Partial<AuditSearch>) => void setSearch(change);
  const chip = (id: keyof AuditSearch, text: string): ActiveFilter => ({ id, text, label: text, onRemove: () => set({ [id]: null }) });
  const moment = (text: string) => momentText(new Date(text), style);
  const actor = facets?.actors.find(({ value }) => value === search.actor);
  return {
    active: [
      ...(isTime(search.from) ? [chip('from', `From ${moment(search.from)}`)] : []),
      ...(isTime(search.to) ? [chip('to', `Until ${moment(search.to)}`)] : []),
      ...(search.action ? [chip('action', verbOf(search.action))] : []),
      ...(search.resource_type ? [chip('resource_type', nounOf(search.resource_type))] : []),
      ...(search.resource_id ? [chip('resource_id', `Resource ${search.resource_id.slice(0, 8)}`)] : []),
      ...(search.actor ? [chip('actor', `By ${actor?.label ?? search.actor.slice(0, 8)}`)] : []),
      ...(search.ip ? [chip('ip', `From ${search.ip}`)] : []),
      ...(search.request_id ? [chip('request_id', `Request ${search.request_id.slice(0, 8)}`)] : []),
      ...(search.store ? [chip('store', STORES[search.store].label)] : []),
    ],
    choices: [
      { heading: 'Action' },
      ...(facets?.actions ?? []).slice(0, OFFERED).map(({ value, count }) => ({
        label: verbOf(value),
        detail: grouped(count),
        checked: search.action === value,
        onSelect: () => set({ action: value }),
      })),
      'separator',
      { heading: 'Resource' },
      ...(facets?.resource_types ?? []).slice(0, OFFERED).map(({ value, count }) => ({
        label: nounOf(value),
        detail: grouped(count),
        checked: search.resource_type === value,
        onSelect: () => set({ resource_type: value }),
      })),
      'separator',
      { heading: 'Actor' },
      ...(facets?.actors ?? []).slice(0, OFFERED).map(({ value, label, count }) => ({
        label: label ?? value,
        detail: grouped(count),
        checked: search.actor === value,
        onSelect: () => set({ actor: value }),
      })),
      'separator',
      ...(['critical', 'general'] as const).map((store) => ({
        label: STORES[store].label,
        detail: STORES[store].detail,
        checked: search.store === store,
        onSelect: () => set({ store: search.store === store ? null : store }),
      })),
    ],
  };
}
