'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { Detail } from './key-labels.ts';

const DayBars = lazyPart(() => import('#components/ui/day-bars.tsx').then((module) => module.DayBars));

const DAYS = 30;
const MAX_SERIES = 6;
/** Operations as the server counts them, as a legend names them. */
const labelOf = (operation: string) => capitalize(operation.replaceAll('_', ' ').replace('jwt', 'JWT'));

/** How often a key was used on each of the last days, and what would miss it. */
export function UsageTab({ crypto }: { crypto: Detail }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.cryptoKeys.activity.queryOptions({ name: crypto.id }));
  if (query.isError) return <QueryError query={query} what="Usage" />;
  if (!query.data) return <Skeleton lines={6} label="Loading usage" />;
  const { days, used_by } = query.data;
  const known = new Map(days.map(({ day, operations }) => [day, operations]));
  const dates = Array.from({ length: DAYS }, (_, index) =>
    new Date(Date.now() - (DAYS - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  );
  const totals = new Map<string, number>();
  for (const { operations } of days)
    for (const [operation, count] of Object.entries(operations)) totals.set(operation, (totals.get(operation) ?? 0) + count);
  const busiest = [...totals].toSorted((a, b) => b[1] - a[1]).map(([operation]) => operation);
  const shown = busiest.length > MAX_SERIES ? busiest.slice(0, MAX_SERIES - 1) : busiest;
  const rest = busiest.slice(shown.length);
  const countsOf = (operations: readonly string[]) =>
    dates.map((day) => operations.reduce((sum, operation) => sum + (known.get(day)?.[operation] ?? 0), 0));
  return (
    <>
      <SectionCard title="Uses per day" description="The last 30 days, in UTC. Each item of a batch counts.">
        {shown.length === 0 ? (
          <p className="text-ink-2">Not used in the last 30 days.</p>
        ) : (
          <DayBars
            days={dates}
            unit="uses"
            series={[
              ...shown.map((operation) => ({ label: labelOf(operation), values: countsOf([operation]) })),
              ...(rest.length > 0 ? [{ label: 'Other', values: countsOf(rest) }] : []),
            ]}
          />
        )}
      </SectionCard>
      <SectionCard title="Used by" description="What names this key and would stop working without it.">
        {used_by.length === 0 ? (
          <p className="text-ink-2">Nothing in this space names the key.</p>
        ) : (
          <ul className="flex flex-col gap-1">
            {used_by.map((user) => (
              <li key={user}>{user}</li>
            ))}
          </ul>
        )}
      </SectionCard>
    </>
  );
}
