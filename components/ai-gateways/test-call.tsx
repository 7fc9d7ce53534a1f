'use client';

import { useMutation } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { usd } from './ai-labels.ts';

const OUTCOMES = {
  ok: { state: 'ok', label: 'OK' },
  warn: { state: 'warning', label: 'Warning' },
  refused: { state: 'blocked', label: 'Refused' },
  skipped: { state: 'off', label: 'Skipped' },
} as const;

/** Makes one call as soon as it is shown, and lists what each stage did. */
export function TestCall({ agentId, onClose, onPassed }: { agentId: string; onClose?: () => void; onPassed?: () => void }) {
  const trpc = useTRPC();
  const test = useMutation(trpc.aiGateways.testAgent.mutationOptions({ onSuccess: ({ ok }) => ok && onPassed?.() }));
  const begun = useRef(false);
  const { mutate } = test;
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    mutate({ id: agentId });
  }, [mutate, agentId]);
  const { data } = test;
  return (
    <div className="flex flex-col gap-3" aria-live="polite">
      {test.isPending && <Skeleton lines={3} label="Calling the model" />}
      <MutationError error={test.error} />
      {data && (
        <>
          <Callout tone={data.ok ? 'good' : 'bad'} title={data.ok ? 'The model answered' : 'The call did not succeed'}>
            {data.ok
              ? `${data.model ?? 'Model'} answered in ${data.latency_ms} ms${data.cost_usd === null ? ', at an unknown price' : ` for ${usd(Number(data.cost_usd))}`}.`
              : (data.upstream_error ?? 'See the stage that refused it.')}
          </Callout>
          <ol className="divide-y divide-line rounded-md border border-line">
            {data.stages.map((stage) => (
              <li key={stage.name} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
                <span className="w-40 shrink-0">{stage.name.replaceAll('_', ' ')}</span>
                <Status state={OUTCOMES[stage.outcome].state}>{OUTCOMES[stage.outcome].label}</Status>
                {stage.code && <Badge mono>{stage.code}</Badge>}
                {stage.detail && <span className="min-w-0 text-ink-2 text-xs">{stage.detail}</span>}
              </li>
            ))}
          </ol>
        </>
      )}
      <ApiEquivalent method="POST" path={`/ai-gateway/agents/${agentId}/test`} body={{}} />
      {!test.isPending && (
        <div className="flex gap-2">
          <Button size="sm" icon={<RotateCw />} onClick={() => mutate({ id: agentId })}>
            Test again
          </Button>
          {onClose && (
            <Button size="sm" onClick={onClose}>
              Close
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
