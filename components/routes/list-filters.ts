import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import type { ActiveFilter } from '#components/ui/filter-bar.tsx';

type Search = { collection: string | null; environment: string | null; enabled: boolean | null; by: 'collection' | null };
type SetSearch = (change: Partial<Search> & { page: null }) => unknown;

/** What the list of routes is narrowed to, as chips, and the menu that narrows it. */
export function useRouteFilters(search: Search, setSearch: SetSearch): { active: ActiveFilter[]; choices: MenuEntry[] } {
  const trpc = useTRPC();
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const collections = useQuery(trpc.collections.list.queryOptions({ per_page: 100 }));
  const set = (change: Partial<Search>) => void setSearch({ ...change, page: null });
  const chip = (id: keyof Search, text: string): ActiveFilter => ({ id, label: text, text, onRemove: () => set({ [id]: null }) });
  const collection = collections.data?.data.find((c) => c.id === search.collection);
  return {
    active: [
      ...(search.by ? [chip('by', 'Grouped by collection')] : []),
      ...(search.enabled === null ? [] : [chip('enabled', search.enabled ? 'On' : 'Off')]),
      ...(search.environment ? [chip('environment', `Environment: ${search.environment}`)] : []),
      ...(search.collection ? [chip('collection', `Collection: ${collection?.name ?? '…'}`)] : []),
    ],
    choices: [
      { label: 'Group by collection', checked: search.by !== null, onSelect: () => set({ by: search.by ? null : 'collection' }) },
      { heading: 'Status' },
      { label: 'On', checked: search.enabled === true, onSelect: () => set({ enabled: search.enabled === true ? null : true }) },
      {
        label: 'Off',
        checked: search.enabled === false,
        onSelect: () => set({ enabled: search.enabled === false ? null : false }),
      },
      { heading: 'Environment' },
      ...(environments.data?.data ?? []).map(({ name }) => ({
        label: name,
        checked: search.environment === name,
        onSelect: () => set({ environment: search.environment === name ? null : name }),
      })),
      { heading: 'Collection' },
      ...(collections.data?.data ?? []).map(({ id, name }) => ({
        label: name,
        checked: search.collection === id,
        onSelect: () => set({ collection: search.collection === id ? null : id }),
      })),
    ],
  };
}
