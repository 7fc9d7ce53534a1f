'use client';

import { ArrowRight, FlaskConical } from 'lucide-react';
import { parseAsBoolean, parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import { useMemo, useState } from 'react';
import { pluralOf } from '#components/shell/resources.ts';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { BulkBar } from '#components/ui/bulk-bar.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { planColumns } from './plan-columns.tsx';
import { type Item, isHeldBack, spaceWord, TYPES } from './plan-text.ts';
import { PER_PAGE, pagedOf } from './use-paged.ts';
import { type Picks, usePlan } from './use-plan.ts';
import { ValuesToFill } from './values-to-fill.tsx';

/** One that waits is not the same, though nothing would be done about it now. */
const isSame = (item: Item) => item.action === 'skip' && !isHeldBack(item);
const heading = (type: Item['type']) => capitalize(pluralOf(type));
/** What the address of the page holds beside what was picked. */
const promoteSearch = {
  q: parseAsString.withDefault(''),
  type: parseAsStringLiteral(TYPES),
  same: parseAsBoolean.withDefault(false),
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(PER_PAGE),
};
const idOf = (item: Item) => `${item.type}:${item.source_id}`;

/** Everything of this space against the other one; what is the same there is left out until it is asked for. */
export function PickStep({ onPicked }: { onPicked: (picks: Exclude<Picks, 'all'>) => void }) {
  const { space } = useScope();
  const path = usePath();
  const plan = usePlan({ items: 'all', keep_target_urls: false });
  const [{ q, type, same, page, per_page }, setSearch] = useQueryStates(promoteSearch);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const target = space === 'test' ? 'live' : 'test';
  const columns = useMemo(() => planColumns(target, 'pick'), [target]);
  const items = plan.data?.items;
  const shown = useMemo(
    () =>
      items?.filter(
        (item) => (same || !isSame(item)) && (!type || item.type === type) && item.name.toLowerCase().includes(q.trim().toLowerCase()),
      ),
    [items, same, type, q],
  );
  const { rows, pagination } = pagedOf(shown, { page, per_page }, (place) => void setSearch(place));
  if (plan.error && !plan.data) return <QueryError query={plan} what="Differences" />;
  const to = spaceWord(target);
  const filter = (change: { q?: string; type?: Item['type'] | null; same?: boolean }) => void setSearch({ ...change, page: 1 });
  const clear = () => filter({ q: '', type: null });
  const alike = items?.filter(isSame).length ?? 0;
  const review = () =>
    onPicked((items ?? []).filter((item) => selected.has(idOf(item))).map((item) => ({ type: item.type, id: item.source_id })));
  return (
    <>
      {plan.data && <ValuesToFill plan={plan.data} />}
      <FilterBar
        query={q}
        onQuery={(next) => filter({ q: next })}
        placeholder="Filter by name"
        filters={type ? [{ id: 'type', label: heading(type), text: heading(type), onRemove: () => filter({ type: null }) }] : []}
        choices={[
          { heading: 'Type' },
          ...TYPES.map((kind) => ({
            label: heading(kind),
            checked: type === kind,
            onSelect: () => filter({ type: type === kind ? null : kind }),
          })),
          'separator' as const,
          { label: `Show unchanged (${grouped(alike)})`, checked: same, onSelect: () => filter({ same: !same }) },
        ]}
        onClear={clear}
      />
      <p className="text-ink-2">Select what to move, then review the plan. Nothing changes until you confirm.</p>
      <DataTable
        caption={`Differences from ${to}`}
        columns={columns}
        rows={rows}
        rowId={idOf}
        rowName={(item) => item.name}
        refreshing={plan.isPlaceholderData}
        selection={{ selected, onChange: setSelected }}
        empty={
          q || type ? (
            <NoResults noun="items" filters={[...(q ? [`name contains “${q}”`] : []), ...(type ? [pluralOf(type)] : [])]} onClear={clear} />
          ) : (
            <EmptyState
              icon={<FlaskConical />}
              title={items?.length ? `${to} is up to date` : 'Nothing to move'}
              action={
                <LinkButton variant="primary" href={path('/routes')}>
                  View routes
                </LinkButton>
              }
            >
              This page lists everything that differs from {to}.
            </EmptyState>
          )
        }
      />
      <Pagination noun="items" {...pagination} />
      {shown && shown.length > (rows?.length ?? 0) && selected.size > 0 && selected.size < shown.length && (
        <p>
          <Button size="sm" variant="ghost" onClick={() => setSelected(new Set(shown.map(idOf)))}>
            Select all {grouped(shown.length)}
          </Button>
        </p>
      )}
      <BulkBar count={selected.size} noun="item" onClear={() => setSelected(new Set())}>
        <Button size="sm" variant="primary" icon={<ArrowRight />} onClick={review}>
          Review plan
        </Button>
      </BulkBar>
    </>
  );
}
