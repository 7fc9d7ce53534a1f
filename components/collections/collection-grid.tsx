'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { Layers, Plus, UserRound } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden, useNamesOnly } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted, grouped, shareOf } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { CollectionMark } from './collection-mark.tsx';
import { collectionListInput, collectionSearch } from './list-search.ts';

const CollectionForm = lazyOverlay(() => import('./collection-form.tsx').then((module) => module.CollectionForm), whenOpen);

type Outputs = inferRouterOutputs<AppRouter>['collections'];

/** The collections of the space as cards, with what is in each. */
export function CollectionGrid() {
  const trpc = useTRPC();
  const readOnly = useForbidden('collection:update');
  const usage = useLimit('collections', 'collections');
  const [search, setSearch] = useQueryStates(collectionSearch);
  const form = usePanel('create');
  const collections = useQuery(trpc.collections.list.queryOptions(collectionListInput(search), { placeholderData: keepPreviousData }));
  const shown = collections.data?.data ?? [];
  const namesOnly = useNamesOnly();
  const ids = shown.map(({ id }) => id).join(',');
  const cards = useQuery(
    trpc.collections.overview.queryOptions({ ids }, { enabled: ids !== '' && !namesOnly, staleTime: 30_000, refetchInterval: 60_000 }),
  );
  const cardOf = (id: string) => cards.data?.data.find((card) => card.collection_id === id);
  useHotkeys([{ keys: 'c', label: 'New collection', group: 'List', run: () => readOnly || form.open('true') }]);
  const create = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => form.open('true')}>
      New collection
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Collections"
        description="Group related routes, secrets and clients with shared variables and environment defaults."
        usage={usage}
        actions={create}
      />
      {(shown.length > 0 || search.q !== '') && (
        <FilterBar query={search.q} onQuery={(q) => void setSearch({ q: q || null, page: null })} placeholder="Filter by name" />
      )}
      {collections.error && !collections.data ? (
        <QueryError query={collections} what="Collections" />
      ) : !collections.data ? (
        <Skeleton lines={5} label="Loading collections" />
      ) : shown.length === 0 ? (
        search.q ? (
          <NoResults noun="collections" filters={[`Name contains “${search.q}”`]} onClear={() => void setSearch({ q: null })} />
        ) : (
          <EmptyState icon={<Layers />} title="No collections yet" action={create}>
            Group the routes of one API or customer to share variables and spot configuration drift.
          </EmptyState>
        )
      ) : (
        <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
          {shown.map((collection) => (
            <li key={collection.id}>
              {namesOnly ? (
                <p className="flex items-center gap-2 rounded-lg border border-line-strong bg-surface p-4 font-semibold text-base">
                  <CollectionMark color={collection.color ?? null} icon={collection.icon ?? null} />
                  <span className="truncate">{collection.name}</span>
                </p>
              ) : (
                <Card collection={collection} card={cardOf(collection.id)} failed={cards.isError} />
              )}
            </li>
          ))}
        </ul>
      )}
      <Pagination noun="collections" meta={collections.data?.meta} onPage={(page) => void setSearch({ page })} />
      <CollectionForm open={form.id === 'true' && !readOnly} collection={undefined} onClose={form.close} />
    </Page>
  );
}

type CardProps = {
  collection: Outputs['list']['data'][number];
  /** Undefined while it is on its way, or when it could not be had: the grid does without. */
  card: Outputs['overview']['data'][number] | undefined;
  failed: boolean;
};

function Card({ collection, card, failed }: CardProps) {
  const path = usePath();
  return (
    <Link
      href={path(`/collections/${collection.id}`)}
      className="flex h-full flex-col gap-2 rounded-lg border border-line-strong bg-surface p-4 transition-colors hover:border-line-control"
    >
      <span className="flex items-center gap-2">
        <CollectionMark color={collection.color} icon={collection.icon} />
        <span className="truncate font-semibold text-base">{collection.name}</span>
        {card && <Health card={card} />}
      </span>
      {collection.description && <span className="line-clamp-2 text-ink-2">{collection.description}</span>}
      {card && card.owners.length > 0 && (
        <span className="flex min-w-0 items-center gap-1.5 text-ink-2 text-xs">
          <UserRound aria-hidden className="size-3.5 shrink-0 text-ink-3" />
          <span className="sr-only">Owned by</span>
          <span className="truncate">{card.owners.map(({ name }) => name).join(', ')}</span>
        </span>
      )}
      {card && card.drifting !== null && card.route_count > 0 && (
        <span className="text-xs">
          {card.drifting > 0 ? <Status state="warning">{card.drifting} out of sync</Status> : <Status state="ok">In sync</Status>}
        </span>
      )}
      <span className="figures mt-auto flex flex-wrap gap-x-4 text-ink-3 text-xs">
        {card ? (
          <>
            <span>{counted(card.route_count, 'route')}</span>
            <span>{counted(card.secret_count, 'secret')}</span>
            <span>{counted(card.client_count, 'client')}</span>
            <span>{counted(card.variable_count, 'variable')}</span>
          </>
        ) : failed ? (
          'Metrics unavailable.'
        ) : (
          'counting…'
        )}
      </span>
    </Link>
  );
}

/** How its routes did in the last 24 hours; the line is drawn where Home draws it. */
function Health({ card: { calls, errors } }: { card: Outputs['overview']['data'][number] }) {
  const share = calls === 0 ? 0 : errors / calls;
  return (
    <span className="ml-auto shrink-0 text-xs" title={`${grouped(calls)} calls in 24 hours, ${grouped(errors)} failed`}>
      {calls === 0 ? (
        <Status state="off">No calls today</Status>
      ) : share >= 0.05 ? (
        <Status state={share >= 0.25 ? 'failing' : 'warning'}>{shareOf(errors, calls)} fail</Status>
      ) : (
        <Status state="ok">{counted(calls, 'call')} today</Status>
      )}
    </span>
  );
}
