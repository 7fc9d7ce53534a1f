'use client';

import { useQuery } from '@tanstack/react-query';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Stat } from '#components/ui/stat.tsx';
import { usd } from './ai-labels.ts';

const DAY_MS = 86_400_000;
const MOST_MODELS = 6;

/** The last seven days of all gateways: figures, the models that cost most, and what was refused today. */
export function TrafficCards() {
  const trpc = useTRPC();
  const path = usePath();
  const forbidden = useForbidden('ai_gateway:read_usage');
  const usage = useQuery(trpc.aiSpend.usage.queryOptions({ period: '7d' }, { enabled: !forbidden }));
  const since = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - DAY_MS).toISOString();
  const refusals = useQuery(
    trpc.aiSpend.listRequests.queryOptions({ status: 'refused', from: since, limit: 100 }, { enabled: !forbidden }),
  );
  if (forbidden) return null;
  if (usage.isError) return <QueryError query={usage} what="Usage" />;
  if (!usage.data) return <Skeleton lines={4} label="Loading usage" />;
  const { totals, by_model } = usage.data;
  const refused = refusals.data?.data;
  const codes = [...Map.groupBy(refused ?? [], ({ code }) => code ?? 'refused')].toSorted((a, b) => b[1].length - a[1].length);
  return (
    <>
      <h2 className="font-semibold text-base">Last 7 days</h2>
      <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-4">
        <Stat label="Spend" value={usd(totals.cost_usd)} href={path('/ai/spend')} />
        <Stat label="Calls" value={grouped(totals.requests)} href={path('/ai/calls')} />
        <Stat label="Tokens" value={grouped(totals.input_tokens + totals.output_tokens)} />
        <Stat label="Without a price" value={grouped(totals.unpriced_requests)} href={path('/ai/spend')} />
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <SectionCard title="Top models" description="By cost.">
          {by_model.length === 0 ? (
            <p className="text-ink-2">No calls yet.</p>
          ) : (
            <ul className="divide-y divide-line">
              {by_model.slice(0, MOST_MODELS).map((row) => (
                <li key={`${row.provider} ${row.model}`} className="flex flex-wrap items-baseline gap-x-3 py-2 first:pt-0 last:pb-0">
                  <span className="min-w-0 truncate font-mono text-xs">{row.model}</span>
                  <span className="text-ink-3 text-xs">{row.provider}</span>
                  <span className="figures ml-auto text-xs">
                    {counted(row.requests, 'call')}, {row.unpriced_requests > 0 && row.cost_usd === 0 ? 'unpriced' : usd(row.cost_usd)}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </SectionCard>
        <SectionCard
          title="Refused in 24 hours"
          description="By reason. Failed authentication is on the Denials page."
          actions={
            <LinkButton size="sm" href={path('/ai/denials')}>
              Denials
            </LinkButton>
          }
        >
          {!refused ? (
            <Skeleton lines={2} label="Loading refusals" />
          ) : codes.length === 0 ? (
            <p className="text-ink-2">Nothing was refused.</p>
          ) : (
            <ul className="divide-y divide-line">
              {codes.map(([code, rows]) => (
                <li key={code} className="flex items-center gap-3 py-2 first:pt-0 last:pb-0">
                  <Badge mono>{code}</Badge>
                  <span className="figures ml-auto text-xs">{rows.length === 100 ? '100 or more' : counted(rows.length, 'call')}</span>
                </li>
              ))}
            </ul>
          )}
        </SectionCard>
      </div>
    </>
  );
}
