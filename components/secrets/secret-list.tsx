'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { FileText, Grid3x3, Layers, List, LockKeyhole, Plus } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useMemo, useState } from 'react';
import { useTraffic } from '#components/logs/use-traffic.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { ColumnsMenu, useColumnChoice } from '#components/ui/columns.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { secretListInput, secretSearch } from './list-search.ts';
import { SecretBulkBar } from './secret-bulk.tsx';
import { secretColumns } from './secret-columns.tsx';
import { useCollections, useEnvironments } from './use-environments.ts';

const SecretMatrix = lazyTab(() => import('./matrix.tsx').then((module) => module.SecretMatrix));
const GroupedList = lazyTab(() => import('#components/collections/grouped-list.tsx').then((module) => module.GroupedList));
const ImportEnvSheet = lazyOverlay(() => import('./import-sheet.tsx').then((module) => module.ImportEnvSheet), whenOpen);
const CreateSecretSheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateSecretSheet), whenOpen);

/** The secrets of the space as a list, or against the environments as a matrix. */
export function SecretList() {
  const trpc = useTRPC();
  const path = usePath();
  const { api_url } = useScope();
  const [search, setSearch] = useQueryStates(secretSearch);
  const list = useQuery({ ...trpc.secrets.list.queryOptions(secretListInput(search)), placeholderData: keepPreviousData });
  const environments = useEnvironments();
  const collections = useCollections();
  const usage = useLimit('secrets', 'secrets');
  const readOnly = useForbidden('secret:update');
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const columns = useMemo(
    () => secretColumns(environments, (id) => collections?.find((c) => c.id === id)?.name),
    [environments, collections],
  );
  const choice = useColumnChoice('secrets', columns);
  const form = usePanel('open');
  useHotkeys([{ keys: 'c', label: 'New secret', group: 'List', run: () => !readOnly && form.open('new') }]);

  const traffic = useTraffic(
    'secret',
    list.data?.data.map((row) => row.id),
  );
  const rows = list.data?.data.map((row) => ({ ...row, traffic: traffic(row.id) }));
  const known = [...new Set(rows?.flatMap((row) => row.tags) ?? [])];
  const filters = activeFilters(search, (change) => void setSearch({ ...change, page: 1 }), collections);
  const clear = () => void setSearch({ q: '', collection: null, tag: null, expiring: null, page: 1 });
  const choices: MenuEntry[] = [
    { heading: 'Expiry' },
    ...[7, 30, 90].map((days) => ({
      label: `Expiring within ${days} days`,
      checked: search.expiring === days,
      onSelect: () => void setSearch({ expiring: days, page: 1 }),
    })),
    ...(collections?.length ? ['separator' as const, { heading: 'Collection' }] : []),
    ...(collections ?? []).map(({ id, name }) => ({
      label: name,
      checked: search.collection === id,
      onSelect: () => void setSearch({ collection: id, page: 1 }),
    })),
    ...(known.length ? ['separator' as const, { heading: 'Tag' }] : []),
    ...known.map((tag) => ({ label: tag, checked: search.tag === tag, onSelect: () => void setSearch({ tag, page: 1 }) })),
  ];
  const nothing = rows?.length === 0;
  return (
    <Page>
      <PageHeader
        title="Secrets"
        description="Credentials that routes inject into calls. Callers never see them."
        usage={usage}
        actions={
          <>
            <Button icon={<FileText />} disabledReason={readOnly} onClick={() => form.open('env')}>
              Import .env
            </Button>
            <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => form.open('new')}>
              New secret
            </Button>
          </>
        }
      />
      {!(nothing && filters.length === 0 && search.q === '') && (
        <FilterBar
          query={search.q}
          onQuery={(q) => void setSearch({ q, page: 1 })}
          placeholder="Filter by name"
          filters={filters}
          choices={choices}
          onClear={clear}
        >
          <ViewsMenu page="secrets" columns={choice} />
          <ColumnsMenu choice={choice} />
          <Segmented
            label="View"
            value={search.view}
            onValueChange={(view) => void setSearch({ view })}
            options={[
              { value: 'list', label: 'List', icon: <List /> },
              { value: 'matrix', label: 'Matrix', icon: <Grid3x3 /> },
              { value: 'collections', label: 'Collections', icon: <Layers /> },
            ]}
          />
        </FilterBar>
      )}
      {list.isError ? (
        <QueryError query={list} what="Secrets" />
      ) : nothing && (filters.length > 0 || search.q !== '') ? (
        <NoResults
          noun="secrets"
          filters={[...(search.q ? [`name contains “${search.q}”`] : []), ...filters.map((filter) => filter.text)]}
          onClear={clear}
        />
      ) : nothing ? (
        <EmptyState
          icon={<LockKeyhole />}
          title="No secrets yet"
          action={
            <Button variant="primary" icon={<Plus />} disabledReason={readOnly} onClick={() => form.open('new')}>
              New secret
            </Button>
          }
          link={
            <Button variant="ghost" icon={<FileText />} disabledReason={readOnly} onClick={() => form.open('env')}>
              Import .env
            </Button>
          }
          command={[
            {
              id: 'curl',
              label: 'curl',
              language: 'bash',
              code: `curl -X POST ${api_url}/secrets \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"STRIPE_API_KEY","value":"…"}'`,
            },
          ]}
        >
          Store a credential once and use it in any route. It never appears in logs or responses.
        </EmptyState>
      ) : search.view === 'matrix' ? (
        <SecretMatrix rows={rows} environments={environments} />
      ) : search.view === 'collections' ? (
        <GroupedList
          type="secret"
          rows={rows?.map(({ id, name, collection_id, shortcode_name }) => ({
            id,
            name,
            collection_id,
            detail: shortcode_name === name ? undefined : shortcode_name,
            href: path(`/secrets/${id}`),
          }))}
        />
      ) : (
        <DataTable
          columns={columns}
          hiddenColumns={choice.hidden}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          caption="Secrets"
          rowHref={(row) => path(`/secrets/${row.id}`)}
          sort={{ sort: search.sort, order: search.order }}
          onSort={({ sort, order }) => void setSearch({ sort: sort as typeof search.sort, order, page: 1 })}
          selection={readOnly ? undefined : { selected, onChange: setSelected }}
          refreshing={list.isPlaceholderData}
        />
      )}
      <Pagination
        noun="secrets"
        meta={list.data?.meta}
        onPage={(page) => void setSearch({ page })}
        onPerPage={(per_page) => void setSearch({ per_page, page: 1 })}
      />
      <SecretBulkBar selected={selected} onClear={() => setSelected(new Set())} rows={rows ?? []} collections={collections ?? []} />
      <CreateSecretSheet open={form.id === 'new' && !readOnly} onClose={form.close} />
      <ImportEnvSheet open={form.id === 'env' && !readOnly} onClose={form.close} />
    </Page>
  );
}

type Change = { collection?: null; tag?: null; expiring?: null };

function activeFilters(
  search: { collection: string | null; tag: string | null; expiring: number | null },
  set: (change: Change) => void,
  collections: ReturnType<typeof useCollections>,
): ActiveFilter[] {
  const collection = collections?.find((one) => one.id === search.collection)?.name ?? 'chosen';
  const filter = (id: string, text: string, change: Change): ActiveFilter => ({ id, text, label: text, onRemove: () => set(change) });
  return [
    ...(search.collection ? [filter('collection', `Collection: ${collection}`, { collection: null })] : []),
    ...(search.tag ? [filter('tag', `Tag: ${search.tag}`, { tag: null })] : []),
    ...(search.expiring === null ? [] : [filter('expiring', `Expiring within ${search.expiring} days`, { expiring: null })]),
  ];
}
