'use client';

import { useQuery } from '@tanstack/react-query';
import { usd } from '#components/ai-gateways/ai-labels.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import type { Run } from './use-playground.ts';

const LOG_MS = 1_000;

/** What a call took, and what the pipeline did with it; from the log, once it is written. */
export function RunDetails({ run }: { run: Run }) {
  const trpc = useTRPC();
  const path = usePath();
  const forbidden = useForbidden('ai_gateway:read_usage');
  const ended = run.state === 'done' || run.state === 'stopped';
  const log = useQuery(
    trpc.aiSpend.getRequest.queryOptions(
      { request_id: run.request_id ?? '' },
      { enabled: ended && run.request_id !== undefined && !forbidden, retry: 5, retryDelay: LOG_MS },
    ),
  );
  const row = ended ? log.data : undefined;
  const ms = (value: number | undefined) => (value === undefined ? undefined : `${grouped(value)} ms`);
  return (
    <SectionCard
      title="Last answer"
      actions={
        run.request_id && !forbidden ? (
          <LinkButton size="sm" href={path(`/ai/calls/${run.request_id}`)}>
            Open call
          </LinkButton>
        ) : undefined
      }
    >
      {run.state === 'idle' ? (
        <p className="text-ink-2">Tokens, cost and stages appear here.</p>
      ) : (
        <KeyValueList
          items={[
            { label: 'Model', value: row?.final_model ?? run.answer.model },
            { label: 'First text after', value: ms(run.first_ms) },
            { label: 'Complete after', value: ms(run.total_ms) },
            { label: 'Input', value: tokens(row?.input_tokens ?? run.answer.input_tokens) },
            { label: 'Output', value: tokens(row?.output_tokens ?? run.answer.output_tokens) },
            { label: 'Cost', value: row ? (row.cost_usd === null ? 'Unpriced' : usd(row.cost_usd)) : undefined },
            { label: 'Attempts', value: row?.attempts },
            { label: 'Cache', value: row?.cache },
            { label: 'Firewall', value: row ? row.firewall.join(', ') || 'Nothing found' : undefined },
            {
              label: 'Personal data',
              value: row
                ? Object.entries(row.pii)
                    .map(([entity, count]) => `${entity} ×${count}`)
                    .join(', ') || 'None found'
                : undefined,
            },
            { label: 'Guardrail', value: row?.guardrail },
            { label: 'Warnings', value: row?.warnings.join(', ') || undefined },
          ]}
        />
      )}
    </SectionCard>
  );
}

const tokens = (count: number | undefined) => (count === undefined ? undefined : counted(count, 'token'));
