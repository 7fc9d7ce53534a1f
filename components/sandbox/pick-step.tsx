'use client';

import { ArrowRight, FlaskConical } from 'lucide-react';
import { useMemo, useState } from 'react';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { BulkBar } from '#components/ui/bulk-bar.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { EmptyState, NoResults } from '#components/ui/states.tsx';
import { planColumns } from './plan-columns.tsx';
import { usePaged } from './use-paged.ts';
import { type Picks, usePlan } from './use-plan.ts';
import { ValuesToFill } from './values-to-fill.tsx';
import { type Item, KINDS, spaceWord } from './words.ts';

/** One that waits for a value is not the same, though nothing would be done about it now. */
const isSame = (item: Item) => item.action === 'skip' && item.changes.length === 0;
const idOf = (item: Item) => `${item.type}:${item.source_id}`;

/** Everything of this space against the other one; what is the same there is left out until it is asked for. */
export function PickStep({ onPicked }: { onPicked: (picks: Exclude<Picks, 'all'>) => void }) {
  const { space } = useScope();
  const path = usePath();
  const plan = usePlan({ items: 'all', keep_target_urls: false });
  const [q, setQ] = useState('');
  const [type, setType] = useState<Item['type']>();
  const [same, setSame] = useState(false);
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
  const { rows, pagination } = usePaged(shown);
  if (plan.error && !plan.data) return <QueryError query={plan} what="What differs" />;
  const to = spaceWord(target);
  const clear = () => {
    setQ('');
    setType(undefined);
  };
  const alike = items?.filter(isSame).length ?? 0;
  const review = () =>
    onPicked((items ?? []).filter((item) => selected.has(idOf(item))).map((item) => ({ type: item.type, id: item.source_id })));
  return (
    <>
      {plan.data && <ValuesToFill plan={plan.data} />}
      <FilterBar
        query={q}
        onQuery={setQ}
        placeholder="Filter by name"
        filters={type ? [{ id: 'type', label: KINDS[type].many, text: KINDS[type].many, onRemove: clear }] : []}
        choices={[
          { heading: 'Kind' },
          ...Object.entries(KINDS).map(([kind, words]) => ({
            label: words.many.charAt(0).toUpperCase() + words.many.slice(1),
            checked: type === kind,
            onSelect: () => {
              setType(type === kind ? undefined : (kind as Item['type']));
            },
          })),
          'separator' as const,
          { label: `Show what ${to} has as it is here (${grouped(alike)})`, checked: same, onSelect: () => setSame(!same) },
        ]}
        onClear={clear}
      />
      <p className="text-ink-2">Pick what should go, then look at the plan. Nothing changes before you have confirmed it.</p>
      <DataTable
        caption={`What ${to} does not have, or has otherwise`}
        columns={columns}
        rows={rows}
        rowId={idOf}
        rowName={(item) => item.name}
        refreshing={plan.isPlaceholderData}
        selection={{ selected, onChange: setSelected }}
        empty={
          q || type ? (
            <NoResults noun="things" filters={[...(q ? [`name has “${q}”`] : []), ...(type ? [KINDS[type].many] : [])]} onClear={clear} />
          ) : (
            <EmptyState
              icon={<FlaskConical />}
              title={items?.length ? `${to} has everything as it is here` : 'There is nothing to move'}
              action={
                <LinkButton variant="primary" href={path('/routes')}>
                  Routes of {spaceWord(space)}
                </LinkButton>
              }
            >
              Change something here, then come back: this page lists what {to} does not have, or has otherwise.
            </EmptyState>
          )
        }
      />
      <Pagination noun="things" {...pagination} />
      {shown && shown.length > (rows?.length ?? 0) && selected.size > 0 && selected.size < shown.length && (
        <p>
          <Button size="sm" variant="ghost" onClick={() => setSelected(new Set(shown.map(idOf)))}>
            Select all {grouped(shown.length)}
          </Button>
        </p>
      )}
      <BulkBar count={selected.size} noun="thing" onClear={() => setSelected(new Set())}>
        <Button size="sm" variant="primary" icon={<ArrowRight />} onClick={review}>
          Look at the plan
        </Button>
      </BulkBar>
    </>
  );
}
