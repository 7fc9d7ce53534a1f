'use client';

import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { Layers, Plus } from 'lucide-react';
import Link from 'next/link';
import { parseAsBoolean, useQueryState, useQueryStates } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden, useNamesOnly } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazily, whenOpen } from '#components/ui/lazily.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { EmptyState, NoResults } from '#components/ui/states.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { CollectionMark } from './collection-mark.tsx';
import { collectionListInput, collectionSearch } from './list-search.ts';

const CollectionForm = lazily(() => import('./collection-form.tsx').then((module) => module.CollectionForm), whenOpen);

type Outputs = inferRouterOutputs<AppRouter>['collections'];

/** The collections of the space as cards, with what is in each. */
export function CollectionGrid() {
  const trpc = useTRPC();
  const readOnly = useForbidden('collection:update');
  const usage = useLimit('collections', 'collections');
  const [search, setSearch] = useQueryStates(collectionSearch);
  const [creating, setCreating] = useQueryState('create', parseAsBoolean.withDefault(false));
  const collections = useQuery(trpc.collections.list.queryOptions(collectionListInput(search), { placeholderData: keepPreviousData }));
  const shown = collections.data?.data ?? [];
  // Counts and drift of the cards in view; the client sends them as one request.
  const namesOnly = useNamesOnly();
  const known = namesOnly ? [] : shown;
  const details = useQueries({ queries: known.map(({ id }) => trpc.collections.get.queryOptions({ id })) });
  const syncs = useQueries({
    queries: known.map(({ id, expected_environments }) =>
      trpc.collections.syncStatus.queryOptions({ id }, { enabled: expected_environments.length > 0 }),
    ),
  });
  useHotkeys([{ keys: 'c', label: 'New collection', group: 'List', run: () => readOnly || void setCreating(true) }]);
  const create = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void setCreating(true)}>
      New collection
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Collections"
        description="Routes, secrets and clients that belong together, the variables they share, and the environments each route should serve."
        usage={usage}
        actions={create}
      />
      {(shown.length > 0 || search.q !== '') && (
        <FilterBar query={search.q} onQuery={(q) => void setSearch({ q: q || null, page: null })} placeholder="Filter by name" />
      )}
      {collections.error && !collections.data ? (
        <QueryError query={collections} what="The collections" />
      ) : !collections.data ? (
        <Skeleton lines={5} label="Loading collections" />
      ) : shown.length === 0 ? (
        search.q ? (
          <NoResults noun="collections" filters={[`name has “${search.q}”`]} onClear={() => void setSearch({ q: null })} />
        ) : (
          <EmptyState icon={<Layers />} title="No collections yet" action={create}>
            Put the routes of one API or one customer together: they share variables, and the page shows which of them lag behind.
          </EmptyState>
        )
      ) : (
        <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
          {shown.map((collection, index) => (
            <li key={collection.id}>
              {namesOnly ? (
                <p className="flex items-center gap-2 rounded-lg border border-line-strong bg-surface p-4 font-semibold text-base">
                  <CollectionMark color={collection.color ?? null} icon={collection.icon ?? null} />
                  <span className="truncate">{collection.name}</span>
                </p>
              ) : (
                <Card collection={collection} detail={details[index]?.data} sync={syncs[index]?.data?.data} />
              )}
            </li>
          ))}
        </ul>
      )}
      <Pagination noun="collections" meta={collections.data?.meta} onPage={(page) => void setSearch({ page })} />
      <CollectionForm open={creating && !readOnly} collection={undefined} onClose={() => void setCreating(null)} />
    </Page>
  );
}

type CardProps = {
  collection: Outputs['list']['data'][number];
  /** Undefined while it is being counted. */
  detail: Outputs['get'] | undefined;
  sync: Outputs['syncStatus']['data'] | undefined;
};

function Card({ collection, detail, sync }: CardProps) {
  const path = usePath();
  const drifting = sync?.filter((route) => !route.in_sync).length ?? 0;
  return (
    <Link
      href={path(`/collections/${collection.id}`)}
      className="flex h-full flex-col gap-2 rounded-lg border border-line-strong bg-surface p-4 transition-colors hover:border-line-control"
    >
      <span className="flex items-center gap-2">
        <CollectionMark color={collection.color} icon={collection.icon} />
        <span className="truncate font-semibold text-base">{collection.name}</span>
        {sync && sync.length > 0 && (
          <span className="ml-auto text-xs">
            {drifting > 0 ? <Status state="warning">{drifting} out of step</Status> : <Status state="ok">in step</Status>}
          </span>
        )}
      </span>
      {collection.description && <span className="line-clamp-2 text-ink-2">{collection.description}</span>}
      <span className="figures mt-auto flex flex-wrap gap-x-4 text-ink-3 text-xs">
        {detail ? (
          <>
            <span>{counted(detail.route_count, 'route')}</span>
            <span>{counted(detail.secret_count, 'secret')}</span>
            <span>{counted(detail.client_count, 'client')}</span>
            <span>{counted(detail.variable_count, 'variable')}</span>
          </>
        ) : (
          'counting…'
        )}
      </span>
    </Link>
  );
}
