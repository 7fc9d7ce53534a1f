'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChartColumnBig, Download, TriangleAlert } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { useDownload } from '#components/trpc/download.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { DayBars } from '#components/ui/day-bars.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped, shareOf, short } from '#components/ui/numbers.ts';
import { Scroll } from '#components/ui/scroll.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Stat } from '#components/ui/stat.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { usd } from './amounts.ts';
import { SPANS, SPEND_GROUPS, spendSearch } from './list-search.ts';

const GROUP_LABELS: Record<(typeof SPEND_GROUPS)[number] | 'tag', string> = {
  model: 'Model',
  agent: 'Agent',
  gateway: 'Gateway',
  user: 'User',
  team: 'Team',
  token: 'Token',
  mcp_server: 'MCP server',
  day: 'Day',
  tag: 'Tag',
};
const SPAN_LABELS = { '7d': '7 days', '30d': '30 days', '90d': '90 days' } as const;
/** The bars are drawn from whole numbers. */
const MICROS = 1_000_000;
const METRICS = ['cost', 'requests', 'tokens'] as const;

/** Figures of a period, a bar for each day, and who took how much. */
export function UsageTab() {
  const trpc = useTRPC();
  const [{ span, by }, set] = useQueryStates(spendSearch);
  const [metric, setMetric] = useState<(typeof METRICS)[number]>('cost');
  const { busy, save } = useDownload();
  const usage = useQuery(trpc.aiSpend.usage.queryOptions({ period: span, granularity: 'day' }, { placeholderData: keepPreviousData }));
  const exportAs = (format: 'csv' | 'json') =>
    void save(`/admin/ai-gateway/usage/export?${new URLSearchParams({ group_by: by, period: span, format }).toString()}`);
  if (usage.isError && !usage.data) return <QueryError query={usage} what="AI usage" />;
  if (!usage.data) return <Skeleton lines={8} label="Loading AI usage" />;
  const { totals, by_day = [], by_model } = usage.data;
  const unpriced = by_model.filter(({ unpriced_requests }) => unpriced_requests > 0);
  const tokens = (day: { input_tokens: number; output_tokens: number }) => day.input_tokens + day.output_tokens;
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Segmented
          label="Period"
          size="sm"
          options={SPANS.map((value) => ({ value, label: SPAN_LABELS[value] }))}
          value={span}
          onValueChange={(value) => void set({ span: value })}
        />
        <Menu
          trigger={
            <Button size="sm" icon={<Download />} loading={busy}>
              Export
            </Button>
          }
          entries={[
            { label: 'CSV', onSelect: () => exportAs('csv') },
            { label: 'JSON', onSelect: () => exportAs('json') },
          ]}
        />
      </div>
      {unpriced.length > 0 && (
        <Callout tone="warn" title="Some models have no price">
          <p>
            Their calls are counted in tokens and cost nothing in budgets. Set a price:{' '}
            {unpriced.map(({ provider, model, unpriced_requests }, index) => (
              <span key={`${provider}/${model}`}>
                {index > 0 && ', '}
                <button type="button" className={textLink} onClick={() => void set({ tab: 'prices', price: `${provider}/${model}` })}>
                  {model}
                </button>{' '}
                ({grouped(unpriced_requests)} {unpriced_requests === 1 ? 'call' : 'calls'})
              </span>
            ))}
          </p>
        </Callout>
      )}
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Stat label="Cost" value={usd(totals.cost_usd)} />
        <Stat label="Calls" value={grouped(totals.requests)} />
        <Stat label="Input / output tokens" value={`${short(totals.input_tokens)} / ${short(totals.output_tokens)}`} />
        <Stat label="Refused / failed" value={`${grouped(totals.refused_requests)} / ${grouped(totals.errors)}`} />
      </div>
      {totals.requests + totals.refused_requests === 0 ? (
        <EmptyState icon={<ChartColumnBig />} title="No calls in this period">
          Usage appears here with the first call of an agent.
        </EmptyState>
      ) : (
        <>
          <SectionCard
            title="By day"
            actions={
              <Segmented
                label="Figure"
                size="sm"
                options={METRICS.map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) }))}
                value={metric}
                onValueChange={setMetric}
              />
            }
          >
            <DayBars
              days={by_day.map(({ date }) => date)}
              unit={metric === 'cost' ? 'US dollars' : metric === 'tokens' ? 'tokens' : 'calls'}
              {...(metric === 'cost' && { figure: (micros: number) => usd(micros / MICROS) })}
              series={
                metric === 'tokens'
                  ? [
                      { label: 'Input', values: by_day.map(({ input_tokens }) => input_tokens) },
                      { label: 'Output', values: by_day.map(({ output_tokens }) => output_tokens) },
                    ]
                  : [
                      {
                        label: metric === 'cost' ? 'Cost' : 'Calls',
                        values: by_day.map((day) => (metric === 'cost' ? Math.round(day.cost_usd * MICROS) : day.requests)),
                      },
                    ]
              }
            />
          </SectionCard>
          <Breakdown span={span} by={by} onBy={(next) => void set({ by: next })} total={totals.cost_usd} tokens={tokens(totals)} />
        </>
      )}
    </>
  );
}

type BreakdownProps = { span: (typeof SPANS)[number]; by: string; onBy: (by: string) => void; total: number; tokens: number };

/** Who took how much, the most expensive first. */
function Breakdown({ span, by, onBy, total, tokens }: BreakdownProps) {
  const trpc = useTRPC();
  const tag = by.startsWith('tag:') ? by.slice(4) : null;
  const [key, setKey] = useState(tag ?? '');
  const kind = tag === null ? (by as (typeof SPEND_GROUPS)[number]) : 'tag';
  const rows = useQuery(
    trpc.aiSpend.breakdown.queryOptions({ period: span, group_by: by }, { placeholderData: keepPreviousData, enabled: by !== 'tag:' }),
  );
  return (
    <SectionCard
      title="What it was spent on"
      actions={
        <div className="flex flex-wrap items-center gap-2">
          {tag !== null && (
            <form
              onSubmit={(event) => {
                event.preventDefault();
                onBy(`tag:${key.trim()}`);
              }}
            >
              <Input
                aria-label="Name of the tag"
                placeholder="project"
                className="w-36"
                value={key}
                onChange={(event) => setKey(event.target.value)}
              />
            </form>
          )}
          <Select
            size="sm"
            label="Group by"
            options={[...SPEND_GROUPS, 'tag' as const].map((value) => ({ value, label: GROUP_LABELS[value] }))}
            value={kind in GROUP_LABELS ? kind : 'model'}
            onValueChange={(next) => onBy(next === 'tag' ? 'tag:project' : next)}
            className="w-36"
          />
        </div>
      }
    >
      {rows.isError && !rows.data ? (
        <QueryError query={rows} what="This breakdown" />
      ) : rows.data ? (
        <Scroll className="overflow-x-auto">
          <table className="w-full text-left">
            <caption className="sr-only">Spend by {GROUP_LABELS[kind] ?? 'group'}</caption>
            <thead className="text-ink-3 text-xs">
              <tr>
                <th scope="col" className="pb-1 font-medium">
                  {GROUP_LABELS[kind] ?? 'Group'}
                </th>
                <th scope="col" className="pb-1 text-right font-medium">
                  Cost
                </th>
                <th scope="col" className="w-20 pb-1 text-right font-medium">
                  Share
                </th>
                <th scope="col" className="pb-1 text-right font-medium max-sm:hidden">
                  Calls
                </th>
                <th scope="col" className="pb-1 text-right font-medium max-md:hidden">
                  Input tokens
                </th>
                <th scope="col" className="pb-1 text-right font-medium max-md:hidden">
                  Output tokens
                </th>
              </tr>
            </thead>
            <tbody className="figures">
              {rows.data.rows.map((row) => (
                <tr key={row.group ?? 'none'} className="border-line border-t">
                  <th scope="row" className="max-w-64 truncate py-1.5 pr-3 font-normal">
                    <GroupName kind={kind} group={row.group} label={row.group_label} />
                    {row.unpriced_requests > 0 && (
                      <span className="ml-2 inline-flex items-center gap-1 text-warn-ink text-xs">
                        <TriangleAlert aria-hidden className="size-3" />
                        {grouped(row.unpriced_requests)} unpriced
                      </span>
                    )}
                  </th>
                  <td className="py-1.5 text-right">{usd(row.cost_usd)}</td>
                  <td className="py-1.5 text-right text-ink-3">
                    {total > 0 ? shareOf(row.cost_usd, total) : shareOf(row.input_tokens + row.output_tokens, tokens)}
                  </td>
                  <td className="py-1.5 text-right max-sm:hidden">{grouped(row.requests)}</td>
                  <td className="py-1.5 text-right max-md:hidden">{grouped(row.input_tokens)}</td>
                  <td className="py-1.5 text-right max-md:hidden">{grouped(row.output_tokens)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      ) : (
        <Skeleton lines={4} label="Loading the breakdown" />
      )}
    </SectionCard>
  );
}

const FILTERS: Readonly<Record<string, string>> = { model: 'model', agent: 'agent_id', user: 'user' };

/** Leads to the calls of the group, where the call list can be filtered by it. */
function GroupName({ kind, group, label }: { kind: string; group: string | null; label: string | null }) {
  const path = usePath();
  if (group === null) return <span className="text-ink-3">None</span>;
  const filter = FILTERS[kind];
  const name = label ?? group;
  return filter ? (
    <Link href={path(`/ai/calls?${new URLSearchParams({ [filter]: group }).toString()}`)} className={textLink}>
      {name}
    </Link>
  ) : (
    <span>{name}</span>
  );
}
