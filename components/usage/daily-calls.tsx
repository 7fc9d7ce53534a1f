'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import type { z } from 'zod';
import { useDownload } from '#components/trpc/download.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { DayBars } from '#components/ui/day-bars.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import type { LogDays } from '#server/domain/request-logs/figures.schema.ts';
import { SPLITS } from '#server/domain/request-logs/span.shared.ts';
import { stacked } from './layers.ts';
import { monthOf, monthsBefore } from './month.ts';
import { Shares } from './shares.tsx';

type Days = z.output<typeof LogDays>;
type Split = (typeof SPLITS)[number];

const WORDS: Record<Split, { label: string; noun: string; none: string; filter: string; shares: (days: Days) => Days['routes'] }> = {
  route: { label: 'Route', noun: 'route', none: '', filter: 'route_id', shares: (days) => days.routes },
  client: { label: 'Client', noun: 'client', none: 'no matching client', filter: 'client_id', shares: (days) => days.clients },
  api_key: { label: 'API key', noun: 'key', none: 'no key', filter: 'api_key_id', shares: (days) => days.api_keys },
  environment: {
    label: 'Environment',
    noun: 'environment',
    none: 'no environment',
    filter: 'environment',
    shares: (days) => days.environments,
  },
};

/** Calls of a month by day, and what they are made of. Days are those of UTC, in which the plan counts. */
export function DailyCalls({ year, month }: { year: number; month: number }) {
  const trpc = useTRPC();
  const router = useRouter();
  const { slug } = useScope();
  const [{ by, month: wanted }, set] = useQueryStates({ by: parseAsStringLiteral(SPLITS).withDefault('route'), month: parseAsString });
  const { busy, save } = useDownload();
  const months = monthsBefore(year, month);
  const shown = months.find(({ id }) => id === wanted) ?? months[0] ?? monthOf(`${year.toString()}-${month.toString().padStart(2, '0')}`);
  const query = { from: shown.from, to: shown.to, by };
  const days = useQuery(trpc.requestLogs.days.queryOptions(query, { placeholderData: keepPreviousData }));
  const words = WORDS[by];
  const logs = (filters: Record<string, string>) => `/${slug}/live/logs?${new URLSearchParams(filters).toString()}`;
  const span = { from: `${shown.from}T00:00:00.000Z`, to: `${shown.to}T23:59:59.999Z` };
  return (
    <SectionCard
      title="Calls by day"
      description="Days are in UTC. The chart shows calls that count towards your plan."
      actions={
        <div className="flex flex-wrap items-center gap-2">
          <Select
            size="sm"
            label="Month"
            options={months.map(({ id, label }) => ({ value: id, label }))}
            value={shown.id}
            onValueChange={(id) => void set({ month: id === months[0]?.id ? null : id })}
            className="w-40"
          />
          <Button
            size="sm"
            icon={<Download />}
            loading={busy}
            onClick={() => void save(`/admin/logs/days/export?${new URLSearchParams(query).toString()}`)}
          >
            Export CSV
          </Button>
        </div>
      }
    >
      {days.isError && !days.data ? (
        <QueryError query={days} what="Daily calls" />
      ) : days.data ? (
        <div className="flex flex-col gap-5">
          <Segmented
            label="Split by"
            size="sm"
            options={SPLITS.map((value) => ({ value, label: WORDS[value].label }))}
            value={by}
            onValueChange={(value) => void set({ by: value })}
          />
          <DayBars
            days={days.data.days.map(({ day }) => day)}
            series={stacked(days.data, { none: words.none, more: words.shares(days.data).length > days.data.series.length })}
            unit="calls"
            onPick={(day) => router.push(logs({ from: `${day}T00:00:00.000Z`, to: `${day}T23:59:59.999Z` }))}
          />
          <Shares
            shares={words.shares(days.data)}
            total={sumOf(days.data.days)}
            noun={words.noun}
            none={words.none}
            hrefOf={(id) =>
              logs({
                ...span,
                [words.filter]: by === 'environment' ? (words.shares(days.data).find((one) => one.id === id)?.name ?? id) : id,
              })
            }
          />
        </div>
      ) : (
        <Skeleton lines={8} label="Loading daily calls" />
      )}
    </SectionCard>
  );
}

const sumOf = (days: Days['days']) =>
  days.reduce((sum, day) => ({ calls: sum.calls + day.calls, errors: sum.errors + day.errors, counted: sum.counted + day.counted }), {
    calls: 0,
    errors: 0,
    counted: 0,
  });
