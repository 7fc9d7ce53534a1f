'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Import, Plus, Power, PowerOff } from 'lucide-react';
import { useRouter, useSearchParams } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useMemo, useState } from 'react';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden, useNamesOnly } from '#components/trpc/role.ts';
import { BulkBar } from '#components/ui/bulk-bar.tsx';
import { Button } from '#components/ui/button.tsx';
import { ColumnsMenu, useColumnChoice } from '#components/ui/columns.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { hostOf } from './host.ts';
import { useRouteFilters } from './list-filters.ts';
import { routeListInput, routeSearch } from './list-search.ts';
import { NoRoutes } from './no-routes.tsx';
import { routeColumns } from './route-columns.tsx';
import { editFocused, useRowActions } from './row-actions.tsx';
import { type RouteItem, useEnableRoutes } from './use-enable-routes.ts';
import { useRouteFigures } from './use-figures.ts';
import { useRouteIcons } from './use-icons.ts';

const GroupedList = lazyTab(() => import('#components/collections/grouped-list.tsx').then((module) => module.GroupedList));
const DeleteRoute = lazyOverlay(
  () => import('./delete-route.tsx').then((module) => module.DeleteRoute),
  ({ route }) => route !== undefined,
);
const MoveToCollection = lazyOverlay(
  () => import('./move-to-collection.tsx').then((module) => module.MoveToCollection),
  ({ ids }) => ids.size > 0,
);
const CreateRoute = lazyOverlay(() => import('./create-route.tsx').then((module) => module.CreateRoute), whenOpen);

/** The routes of the space, with the calls of the last day. */
export function RouteList() {
  const trpc = useTRPC();
  const path = usePath();
  const router = useRouter();
  const readOnly = useForbidden('route:update');
  const namesOnly = useNamesOnly();
  const [search, setSearch] = useQueryStates(routeSearch);
  const form = usePanel('create');
  const proposed = useSearchParams().get('target');
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const [deleting, setDeleting] = useState<RouteItem>();
  const enable = useEnableRoutes();
  const actions = useRowActions(setDeleting);

  const routes = useQuery(trpc.routes.list.queryOptions(routeListInput(search), { placeholderData: keepPreviousData }));
  const figures = useRouteFigures(routes.data?.data);
  const icons = useRouteIcons(routes.data?.data);
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const filters = useRouteFilters(search, setSearch);
  const filtered = filters.active.length > 0 || search.q !== '';

  const colors = useMemo(() => new Map(environments.data?.data.map((e) => [e.name, e.color])), [environments.data]);
  const { mutate: switchOn } = enable;
  const columns = useMemo(
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
  const choice = useColumnChoice('routes', columns);
  useHotkeys([
    { keys: 'c', label: 'New route', group: 'List', run: () => readOnly || form.open('true') },
    { keys: 'e', label: 'Edit route', group: 'List', run: () => editFocused(router.push) },
  ]);

  const clear = () => void setSearch({ q: null, collection: null, environment: null, enabled: null, by: null, page: null });
  const create = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => form.open('true')}>
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
        description="Each route forwards calls to one upstream and injects its credentials."
        usage={useLimit('routes', 'routes')}
        actions={
          <>
            <Menu
              trigger={<Button icon={<Import />}>Import</Button>}
              entries={[
                { label: 'curl command', detail: 'A working command', href: path('/import') },
                { label: 'OpenAPI', detail: 'An API description', href: path('/import?kind=openapi') },
                { label: 'Known API', detail: 'Stripe, OpenAI, GitHub and more', href: path('/import?kind=known') },
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
        <QueryError query={routes} what="Routes" />
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
          hiddenColumns={choice.hidden}
          rows={routes.data?.data}
          rowId={(route) => route.id}
          rowName={(route) => route.name}
          rowHref={namesOnly ? undefined : (route) => path(`/routes/${route.id}`)}
          refreshing={routes.isPlaceholderData}
          sort={search}
          onSort={({ sort, order }) => void setSearch({ sort: sort as typeof search.sort, order, page: null })}
          selection={readOnly ? undefined : { selected, onChange: setSelected }}
          actions={actions}
          empty={
            filtered ? (
              <NoResults
                noun="routes"
                filters={[search.q && `name or slug contains “${search.q}”`, ...filters.active.map((f) => f.text)].filter(Boolean)}
                onClear={clear}
              />
            ) : (
              <NoRoutes create={create} />
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
          Turn on
        </Button>
        <Button size="sm" icon={<PowerOff />} loading={enable.isPending} onClick={() => bulk(false)}>
          Turn off
        </Button>
        <MoveToCollection ids={selected} onDone={() => setSelected(new Set())} />
      </BulkBar>
      <CreateRoute
        open={form.id === 'true' && !readOnly}
        onClose={form.close}
        {...(proposed?.startsWith('https://') ? { target: proposed } : {})}
      />
      <DeleteRoute route={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}
