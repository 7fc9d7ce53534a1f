'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { type State, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Agent } from './ai-labels.ts';

const STATES: Record<'closed' | 'open' | 'half_open', { state: State; label: string }> = {
  closed: { state: 'ok', label: 'In use' },
  open: { state: 'failing', label: 'Left out' },
  half_open: { state: 'warning', label: 'Trying one call' },
};

/** Which routes of an agent its circuit breaker leaves out of calls, why, and until when. Nothing for an agent without routes and breaker. */
export function CircuitsCard({ agent }: { agent: Agent }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const readOnly = useForbidden('ai_gateway:update');
  const breaker = agent.routing_policy?.circuit;
  const circuits = useQuery(
    trpc.aiGateways.listCircuits.queryOptions({ id: agent.id }, { enabled: Boolean(breaker), refetchInterval: 15_000 }),
  );
  const close = useMutation(
    trpc.aiGateways.closeCircuit.mutationOptions({
      onSuccess: ({ route }) => notifyDone(`Calls use ${route} again`),
      onError: (error) => notifyRefused(error),
      onSettled: () => cache.invalidateQueries(trpc.aiGateways.listCircuits.pathFilter()),
    }),
  );
  if (!breaker) return null;
  const rows = circuits.data?.data;
  return (
    <SectionCard title="Routes" description="A route that fails too often within a minute is left out until its cooldown is over.">
      {circuits.isError ? (
        <QueryError query={circuits} what="Circuits" />
      ) : !rows ? (
        <Skeleton lines={2} label="Loading circuits" />
      ) : rows.length === 0 ? (
        <p className="text-ink-2">This agent calls its provider directly: there is no route to leave out.</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line">
          {rows.map(({ route_id, route, state, failures, requests, cause, open_until }) => (
            <li key={route_id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1.5 py-2 first:pt-0 last:pb-0">
              <div className="min-w-0">
                <Link href={path(`/routes/${route_id}`)} className={textLink}>
                  {route}
                </Link>
                {state !== 'closed' && (
                  <p className="text-ink-2 text-xs">
                    {failures} of {counted(requests, 'call')} failed, last with {cause}.{' '}
                    {state === 'open' && (
                      <>
                        Tried again <Time value={open_until} />.
                      </>
                    )}
                  </p>
                )}
              </div>
              <span className="flex items-center gap-3">
                <Status state={STATES[state].state}>{STATES[state].label}</Status>
                {state !== 'closed' && (
                  <Button
                    size="sm"
                    disabledReason={readOnly}
                    loading={close.isPending && close.variables.route_id === route_id}
                    aria-label={`Use ${route} again`}
                    onClick={() => close.mutate({ id: agent.id, route_id })}
                  >
                    Use again
                  </Button>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </SectionCard>
  );
}
