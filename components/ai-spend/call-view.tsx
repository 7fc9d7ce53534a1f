'use client';

import { useQuery } from '@tanstack/react-query';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Page, PageHeader, SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped, millis } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { usd } from './amounts.ts';
import { STATUS_LABELS } from './call-list.tsx';

/** One call: what it asked for, what it used and cost, what the controls found. */
export function CallView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const query = useQuery(trpc.aiSpend.getRequest.queryOptions({ request_id: id }));
  const back = { href: path('/ai/calls'), label: 'AI calls' };
  const call = query.data;
  if (query.isError || !call)
    return (
      <Page>
        <PageHeader title="AI call" back={back} />
        {query.isError ? <QueryError query={query} what="AI call" /> : <Skeleton lines={8} label="Loading AI call" />}
      </Page>
    );
  const { usage } = call;
  const list = (words: readonly string[]) => (words.length === 0 ? null : words.join(', '));
  const bytes = (n: number | null) => (n === null ? null : `${grouped(n)} bytes`);
  return (
    <Page>
      <Crumbs crumbs={[{ label: call.request_id.slice(0, 8) }]} />
      <PageHeader
        back={back}
        title={call.final_model ?? call.tool ?? call.operation ?? 'AI call'}
        badges={<Badge tone={STATUS_LABELS[call.status].tone}>{STATUS_LABELS[call.status].label}</Badge>}
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={call.request_id} label="Request ID" />
        </p>
      </PageHeader>
      <div className="grid gap-4 lg:grid-cols-2">
        <SectionCard title="Call">
          <KeyValueList
            items={[
              { label: 'Time', value: <Time value={call.ts} format="datetime" /> },
              { label: 'Code', value: call.code },
              {
                label: 'Agent',
                value: call.agent_id && (
                  <Link href={path(`/ai/agents/${call.agent_id}`)} className={textLink}>
                    {call.agent_name ?? call.agent_id.slice(0, 8)}
                  </Link>
                ),
              },
              { label: 'Gateway', value: call.gateway_name },
              { label: 'Token', value: call.token_prefix && <code className="font-mono text-xs">{call.token_prefix}…</code> },
              { label: 'User', value: call.user },
              { label: 'Team', value: call.team },
              { label: 'Tags', value: list(Object.entries(call.tags).map(([key, value]) => `${key}=${value}`)) },
              { label: 'Address', value: call.ip && `${call.ip}${call.country ? ` (${call.country})` : ''}` },
              { label: 'User agent', value: call.user_agent },
            ]}
          />
        </SectionCard>
        <SectionCard title="Cost">
          <KeyValueList
            items={[
              { label: 'Cost', value: usd(call.cost_usd) },
              { label: 'Input tokens', value: grouped(call.input_tokens) },
              { label: 'of them cached', value: usage && grouped(usage.input_cached) },
              { label: 'written to the cache', value: usage && grouped(usage.cache_write_5m + usage.cache_write_1h) },
              { label: 'Output tokens', value: grouped(call.output_tokens) },
              { label: 'of them reasoning', value: usage && grouped(usage.reasoning) },
              {
                label: 'Counted by',
                value: usage && (usage.source === 'provider' ? 'Provider' : 'Estimate: the provider reported nothing'),
              },
              { label: 'Gateway cache', value: call.cache },
            ]}
          />
        </SectionCard>
        <SectionCard title="Provider">
          <KeyValueList
            items={[
              { label: 'Provider', value: call.provider },
              { label: 'Asked for', value: call.requested_model },
              { label: 'Called', value: call.final_model },
              { label: 'Operation', value: [call.operation, call.shape].filter(Boolean).join(', ') || null },
              { label: 'Streamed', value: call.stream ? 'Yes' : 'No' },
              { label: 'Attempts', value: call.attempts },
              { label: 'Fallback', value: call.fallback },
              {
                label: 'Status',
                value: [call.http_status, call.upstream_status && `provider ${call.upstream_status}`].filter(Boolean).join(', '),
              },
              { label: 'Duration', value: millis(call.latency_ms) },
              { label: 'Waiting for the provider', value: call.upstream_ms === null ? null : millis(call.upstream_ms) },
              { label: 'First byte', value: call.first_byte_ms === null ? null : millis(call.first_byte_ms) },
              { label: 'Request', value: bytes(call.request_bytes) },
              { label: 'Answer', value: bytes(call.response_bytes) },
            ]}
          />
        </SectionCard>
        <SectionCard title="Controls">
          <KeyValueList
            items={[
              { label: 'Firewall rules', value: list(call.firewall) },
              { label: 'Personal data', value: list(Object.entries(call.pii).map(([entity, n]) => `${entity} (${grouped(n)})`)) },
              { label: 'Guardrail', value: call.guardrail },
              { label: 'Warnings', value: list(call.warnings) },
              {
                label: 'Request log',
                value: (
                  <Link href={path(`/logs?peek=${call.request_id}`)} className={textLink}>
                    Open the request log
                  </Link>
                ),
              },
            ]}
          />
        </SectionCard>
      </div>
    </Page>
  );
}
