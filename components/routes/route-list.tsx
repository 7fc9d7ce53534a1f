'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  ArrowRightLeft,
  CopyPlus,
  FlaskConical,
  Import,
  LayoutTemplate,
  Plus,
  Power,
  PowerOff,
  ScrollText,
  Settings2,
  Trash2,
  Waypoints,
} from 'lucide-react';
import { useRouter } from 'next/navigation';
import { parseAsBoolean, useQueryState, useQueryStates } from 'nuqs';
import { useMemo, useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden, useNamesOnly } from '#components/trpc/role.ts';
import { BulkBar } from '#components/ui/bulk-bar.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { ColumnsMenu, useColumns } from '#components/ui/columns.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Menu, type MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazily, lazyTab, whenOpen } from '#components/ui/lazily.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { EmptyState, NoResults } from '#components/ui/states.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { DeleteRoute } from './delete-route.tsx';
import { hostOf } from './host.ts';
import { IntoCollection } from './into-collection.tsx';
import { routeListInput, routeSearch } from './list-search.ts';
import { routeColumns } from './route-columns.tsx';
import { type RouteItem, useEnableRoutes } from './use-enable-routes.ts';
import { useRouteFigures } from './use-figures.ts';
import { useRouteIcons } from './use-icons.ts';

const GroupedList = lazyTab(() => import('#components/collections/grouped-list.tsx').then((module) => module.GroupedList));
const CreateRoute = lazily(() => import('./create-route.tsx').then((module) => module.CreateRoute), whenOpen);

/** The routes of the space, with the calls of the last day. */
export function RouteList() {
  const trpc = useTRPC();
  const path = usePath();
  const router = useRouter();
  const { space } = useScope();
  const readOnly = useForbidden('route:update');
  const stays = useForbidden('sandbox:promote');
  const namesOnly = useNamesOnly();
  const [search, setSearch] = useQueryStates(routeSearch);
  const [creating, setCreating] = useQueryState('create', parseAsBoolean.withDefault(false));
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const [deleting, setDeleting] = useState<RouteItem>();
  const enable = useEnableRoutes();
  const duplicate = useDuplicate();

  const routes = useQuery(trpc.routes.list.queryOptions(routeListInput(search), { placeholderData: keepPreviousData }));
  const figures = useRouteFigures(routes.data?.data);
  const icons = useRouteIcons(routes.data?.data);
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const filters = useRouteFilters(search, setSearch);
  const filtered = filters.active.length > 0 || search.q !== '';

  const colors = useMemo(() => new Map(environments.data?.data.map((e) => [e.name, e.color])), [environments.data]);
  const { mutate: switchOn } = enable;
  const all = useMemo(
    () =>
      routeColumns({
        colors,
        readOnly,
        namesOnly,
        figures,
        icons,
        onEnable: (route, enabled) => switchOn({ ids: [route.id], enabled, name: route.name }),
      }),
    [colors, readOnly, namesOnly, figures, icons, switchOn],
  );
  const { columns, choice } = useColumns('routes', all);
  useHotkeys([
    { keys: 'c', label: 'New route', group: 'List', run: () => readOnly || void setCreating(true) },
    { keys: 'e', label: 'Edit the row’s route', group: 'List', run: () => editFocused(router.push) },
  ]);

  const clear = () => void setSearch({ q: null, collection: null, environment: null, enabled: null, by: null, page: null });
  const create = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void setCreating(true)}>
      New route
    </Button>
  );
  // Of routes that are in that state already nothing changes, and Undo must not change them either.
  const bulk = (enabled: boolean) => {
    const ids = [...selected].filter((id) => routes.data?.data.find((route) => route.id === id)?.enabled !== enabled);
    if (ids.length > 0) enable.mutate({ ids, enabled });
    setSelected(new Set());
  };

  return (
    <Page>
      <PageHeader
        title="Routes"
        description="Each route sends calls to one upstream and puts the credentials in on the way."
        usage={useLimit('routes', 'routes')}
        actions={
          <>
            <Menu
              trigger={<Button icon={<Import />}>Import</Button>}
              entries={[
                { label: 'curl command', detail: 'A call that works today', href: path('/import') },
                { label: 'OpenAPI', detail: 'The description of an API', href: path('/import?kind=openapi') },
                { label: 'Known API', detail: 'Stripe, OpenAI, GitHub and others', href: path('/import?kind=known') },
              ]}
            />
            {create}
          </>
        }
      />
      <FilterBar
        query={search.q}
        onQuery={(q) => void setSearch({ q: q || null, page: null })}
        placeholder="Filter by name or slug"
        filters={filters.active}
        choices={filters.choices}
        onClear={clear}
      >
        <ViewsMenu page="routes" columns={choice} />
        <ColumnsMenu choice={choice} />
      </FilterBar>
      {routes.error && !routes.data ? (
        <QueryError query={routes} what="The routes" />
      ) : search.by && !namesOnly && routes.data?.data.length !== 0 ? (
        <GroupedList
          type="route"
          rows={routes.data?.data.map(({ id, name, collection_id, target_base_url }) => ({
            id,
            name,
            collection_id,
            detail: hostOf(target_base_url),
            href: path(`/routes/${id}`),
          }))}
        />
      ) : (
        <DataTable
          caption="Routes"
          columns={columns}
          rows={routes.data?.data}
          rowId={(route) => route.id}
          rowName={(route) => route.name}
          rowHref={namesOnly ? undefined : (route) => path(`/routes/${route.id}`)}
          refreshing={routes.isPlaceholderData}
          sort={search}
          onSort={({ sort, order }) => void setSearch({ sort: sort as typeof search.sort, order, page: null })}
          selection={readOnly ? undefined : { selected, onChange: setSelected }}
          actions={(route) => [
            { label: 'Test…', icon: <FlaskConical />, href: path(`/routes/${route.id}?tab=test`), disabledReason: readOnly },
            { label: 'Configuration', icon: <Settings2 />, href: path(`/routes/${route.id}?tab=config`), keys: 'e' },
            { label: 'Requests', icon: <ScrollText />, href: path(`/routes/${route.id}?tab=requests`) },
            {
              label: space === 'test' ? 'Promote to Live…' : 'Copy to Test…',
              icon: <ArrowRightLeft />,
              href: path(`/promote?items=route:${route.id}`),
              disabledReason: stays,
            },
            { label: 'Duplicate', icon: <CopyPlus />, disabledReason: readOnly, onSelect: () => duplicate.mutate({ id: route.id }) },
            'separator',
            { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: readOnly, onSelect: () => setDeleting(route) },
          ]}
          empty={
            filtered ? (
              <NoResults
                noun="routes"
                filters={[search.q && `name or slug has “${search.q}”`, ...filters.active.map((f) => f.text)].filter(Boolean)}
                onClear={clear}
              />
            ) : (
              <EmptyState
                icon={<Waypoints />}
                title={space === 'live' ? 'No live routes yet' : 'No routes yet'}
                action={create}
                link={
                  <>
                    <LinkButton href={path('/import?kind=known')} icon={<LayoutTemplate />}>
                      Start from a known API
                    </LinkButton>
                    <LinkButton href={path('/import')} icon={<Import />}>
                      Import from curl or OpenAPI
                    </LinkButton>
                  </>
                }
              >
                A route is an address of your own for an upstream API. Callers use it with a key of this workspace; the upstream’s
                credential stays here.
              </EmptyState>
            )
          }
        />
      )}
      <Pagination
        noun="routes"
        meta={routes.data?.meta}
        onPage={(page) => void setSearch({ page })}
        onPerPage={(per_page) => void setSearch({ per_page, page: null })}
      />
      <BulkBar count={selected.size} noun="route" onClear={() => setSelected(new Set())}>
        <Button size="sm" icon={<Power />} loading={enable.isPending} onClick={() => bulk(true)}>
          Switch on
        </Button>
        <Button size="sm" icon={<PowerOff />} loading={enable.isPending} onClick={() => bulk(false)}>
          Switch off
        </Button>
        <IntoCollection ids={selected} onDone={() => setSelected(new Set())} />
      </BulkBar>
      <CreateRoute open={creating && !readOnly} onOpenChange={(open) => void setCreating(open || null)} />
      <DeleteRoute route={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}

/** The row that has focus, by the link in it. */
function editFocused(go: (href: string) => void): void {
  const link = document.activeElement?.closest('tr[data-row]')?.querySelector('a[href*="/routes/"]');
  const href = link?.getAttribute('href');
  if (href) go(`${href}?tab=config`);
}

function useDuplicate() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  return useMutation(
    trpc.routes.duplicate.mutationOptions({
      onSuccess: ({ route }) => {
        notifyDone(`“${route.name}” was made. It is switched off until you have looked at it.`);
        return Promise.all([cache.invalidateQueries(trpc.routes.pathFilter()), cache.invalidateQueries(trpc.account.pathFilter())]);
      },
      onError: (error) => notifyRefused(error),
    }),
  );
}

type Search = { collection: string | null; environment: string | null; enabled: boolean | null; by: 'collection' | null };
type SetSearch = (change: Partial<Search> & { page: null }) => unknown;

/** The filters as chips, and the menu that adds one. */
function useRouteFilters(search: Search, setSearch: SetSearch): { active: ActiveFilter[]; choices: MenuEntry[] } {
  const trpc = useTRPC();
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const collections = useQuery(trpc.collections.list.queryOptions({ per_page: 100 }));
  const set = (change: Partial<Search>) => void setSearch({ ...change, page: null });
  const chip = (id: keyof Search, text: string): ActiveFilter => ({ id, label: text, text, onRemove: () => set({ [id]: null }) });
  const collection = collections.data?.data.find((c) => c.id === search.collection);
  return {
    active: [
      ...(search.by ? [chip('by', 'By collection')] : []),
      ...(search.enabled === null ? [] : [chip('enabled', search.enabled ? 'Switched on' : 'Switched off')]),
      ...(search.environment ? [chip('environment', `Serves ${search.environment}`)] : []),
      ...(search.collection ? [chip('collection', `In ${collection?.name ?? 'a collection'}`)] : []),
    ],
    choices: [
      { label: 'By collection', checked: search.by !== null, onSelect: () => set({ by: search.by ? null : 'collection' }) },
      { heading: 'State' },
      { label: 'Switched on', checked: search.enabled === true, onSelect: () => set({ enabled: search.enabled === true ? null : true }) },
      {
        label: 'Switched off',
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
