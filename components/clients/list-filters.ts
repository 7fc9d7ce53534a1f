import type { useCollections } from '#components/secrets/use-environments.ts';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import type { ActiveFilter } from '#components/ui/filter-bar.tsx';
import { TYPES } from './client-labels.ts';
import type { ClientSearch } from './list-search.ts';

type Filters = Pick<ClientSearch, 'by' | 'type' | 'enabled' | 'collection'>;
type SetSearch = (change: Partial<Filters> & { page: 1 }) => unknown;

/** The filters of the list of clients as chips, and the menu that adds one. */
export function clientFilters(
  search: Filters,
  setSearch: SetSearch,
  collections: ReturnType<typeof useCollections>,
): { active: ActiveFilter[]; choices: MenuEntry[] } {
  const set = (change: Partial<Filters>) => void setSearch({ ...change, page: 1 });
  const chip = (id: keyof Filters, text: string): ActiveFilter => ({ id, text, label: text, onRemove: () => set({ [id]: null }) });
  const collection = collections?.find(({ id }) => id === search.collection);
  return {
    active: [
      ...(search.by ? [chip('by', 'Grouped by collection')] : []),
      ...(search.type ? [chip('type', TYPES[search.type])] : []),
      ...(search.enabled === null ? [] : [chip('enabled', search.enabled ? 'On' : 'Off')]),
      ...(search.collection ? [chip('collection', `Collection: ${collection?.name ?? '…'}`)] : []),
    ],
    choices: [
      { label: 'Group by collection', checked: search.by !== null, onSelect: () => set({ by: search.by ? null : 'collection' }) },
      { heading: 'Type' },
      { label: 'Servers', checked: search.type === 'server', onSelect: () => set({ type: 'server' }) },
      { label: 'People', checked: search.type === 'user', onSelect: () => set({ type: 'user' }) },
      'separator',
      { label: 'On', checked: search.enabled === true, onSelect: () => set({ enabled: true }) },
      { label: 'Off', checked: search.enabled === false, onSelect: () => set({ enabled: false }) },
      ...(collections?.length ? ['separator' as const, { heading: 'Collection' }] : []),
      ...(collections ?? []).map(({ id, name }) => ({
        label: name,
        checked: search.collection === id,
        onSelect: () => set({ collection: id }),
      })),
    ],
  };
}
