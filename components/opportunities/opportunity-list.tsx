'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Radar, Route } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Chip } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import type { OpportunityRow } from './evidence.ts';
import { opportunityQuery, opportunitySearch, type Tab } from './list-search.ts';
import { OpportunityCard } from './opportunity-card.tsx';

type Overlay = { opportunity: OpportunityRow | undefined; onClose: () => void };
const opened = ({ opportunity }: Overlay) => opportunity !== undefined;
const AcceptSheet = lazyOverlay(() => import('./accept-sheet.tsx').then((module) => module.AcceptSheet), opened);
const DismissDialog = lazyOverlay(() => import('./dismiss-dialog.tsx').then((module) => module.DismissDialog), opened);

const TABS: { value: Tab; label: string }[] = [
  { value: 'pending', label: 'Pending' },
  { value: 'snoozed', label: 'Snoozed' },
  { value: 'onboarded', label: 'Accepted' },
  { value: 'dismissed', label: 'Dismissed' },
];

/** Hosts that calls already go to, each with the route that would cover it. */
export function OpportunityList() {
  const trpc = useTRPC();
  const path = usePath();
  const [search, setSearch] = useQueryStates(opportunitySearch);
  const list = useQuery(trpc.opportunities.list.queryOptions(opportunityQuery(search), { placeholderData: keepPreviousData }));
  const accepting = usePanel('accept');
  const [dismissing, setDismissing] = useState<OpportunityRow>();
  const rows = list.data?.data;
  return (
    <Page>
      <PageHeader
        title="Opportunities"
        description="Hosts your applications call without a route. Accept one to create its route and bind a stored secret."
        actions={
          <LinkButton href={path('/opportunities/egress')} icon={<Radar />}>
            Uncovered egress
          </LinkButton>
        }
      />
      <div className="flex flex-wrap items-center gap-3">
        {search.id === null ? (
          <>
            <Segmented
              label="Status"
              value={search.status}
              onValueChange={(status) => void setSearch({ status, page: null })}
              options={TABS}
            />
            {(search.q !== '' || (rows && rows.length > 0)) && (
              <FilterBar
                query={search.q}
                onQuery={(q) => void setSearch({ q: q || null, page: null })}
                placeholder="Filter by host or service"
              />
            )}
          </>
        ) : (
          <Chip active onRemove={() => void setSearch({ id: null })} removeLabel="Show all opportunities">
            One opportunity
          </Chip>
        )}
      </div>
      {list.isError ? (
        <QueryError query={list} what="Opportunities" />
      ) : !rows ? (
        <Skeleton lines={6} label="Loading opportunities" />
      ) : rows.length === 0 ? (
        search.q !== '' ? (
          <NoResults noun="opportunities" filters={[`contains “${search.q}”`]} onClear={() => void setSearch({ q: null })} />
        ) : (
          <Nothing status={search.id === null ? search.status : 'one'} />
        )
      ) : (
        <ul className="grid grid-cols-[minmax(0,1fr)] gap-3 xl:grid-cols-2">
          {rows.map((row) => (
            <li key={row.id}>
              <OpportunityCard opportunity={row} onAccept={() => void accepting.open(row.id)} onDismiss={() => setDismissing(row)} />
            </li>
          ))}
        </ul>
      )}
      <Pagination noun="opportunities" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
      <AcceptSheet
        opportunity={rows?.find(({ id, status }) => id === accepting.id && (status === 'pending' || status === 'snoozed'))}
        onClose={() => void accepting.close()}
      />
      <DismissDialog opportunity={dismissing} onClose={() => setDismissing(undefined)} />
    </Page>
  );
}

const NOTHING: Record<Exclude<Tab, 'pending'> | 'one', { title: string; text: string }> = {
  snoozed: { title: 'No snoozed opportunities', text: 'A snoozed one returns at its time, or when three times as many calls are seen.' },
  onboarded: { title: 'No accepted opportunities', text: 'Accepted opportunities link to the routes they became.' },
  dismissed: { title: 'No dismissed opportunities', text: 'A dismissed host isn’t suggested again until you reopen it.' },
  one: { title: 'Opportunity not found', text: 'It may be in the other space. Show all opportunities to see what there is.' },
};

function Nothing({ status }: { status: Tab | 'one' }) {
  const path = usePath();
  if (status !== 'pending')
    return (
      <EmptyState icon={<Route />} title={NOTHING[status].title}>
        {NOTHING[status].text}
      </EmptyState>
    );
  return (
    <EmptyState
      icon={<Route />}
      title="No opportunities yet"
      action={<LinkButton href={path('/wrap')}>Wrap an SDK</LinkButton>}
      link={
        <LinkButton variant="ghost" href="/docs/opportunities">
          How detection works
        </LinkButton>
      }
    >
      A host is suggested after 10 calls through the ephemeral proxy or a gateway token, or 5 direct calls that an SDK reports.
    </EmptyState>
  );
}
