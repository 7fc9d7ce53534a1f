'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Detail } from './labels.ts';
import { gateRefusal, Refused } from './refused.tsx';

/** What the agent may call or serve, and from where it may come. */
export function RoutesTab({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const path = usePath();
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }));
  const allowed = agent.allowed_route_ids;
  const shown = (routes.data?.data ?? []).filter(({ id, enabled }) => enabled && (allowed.length === 0 || allowed.includes(id)));
  return (
    <div className="flex flex-col gap-4">
      <Limits key={agent.updated_at} agent={agent} routes={routes.data?.data ?? []} />
      <SectionCard title="Routes" description={allowed.length === 0 ? 'Every route of this space.' : 'Those that are allowed.'}>
        {routes.isError ? (
          <QueryError query={routes} what="Routes" />
        ) : !routes.data ? (
          <Skeleton lines={4} label="Loading routes" />
        ) : shown.length === 0 ? (
          <p className="text-ink-3">There is no route that this agent could use.</p>
        ) : (
          <ul className="flex flex-col divide-y divide-line">
            {shown.map((route) => (
              <li key={route.id} className="flex flex-wrap items-baseline justify-between gap-x-3 py-2">
                <Link className={textLink} href={path(`/routes/${route.id}`)}>
                  {route.name}
                </Link>
                <span className="min-w-0 font-mono text-ink-3 text-xs [overflow-wrap:anywhere]">{route.target_base_url}</span>
              </li>
            ))}
          </ul>
        )}
      </SectionCard>
      <SectionCard title="Intercept rules" description="Calls to secret stores that the agent answers with values from custody.">
        <p className="text-ink-2">
          Rules and database listeners belong to a migration.{' '}
          <Link className={textLink} href={path('/migrations')}>
            Open migrations
          </Link>
        </p>
        {agent.mode === 'control' && <Badge>Only in modes intercept, server and proxy</Badge>}
      </SectionCard>
    </div>
  );
}

type LimitsProps = { agent: Detail; routes: readonly { id: string; name: string }[] };

function Limits({ agent, routes }: LimitsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('agent:update');
  const [ids, setIds] = useState<string[]>(agent.allowed_route_ids);
  const [cidrs, setCidrs] = useState(agent.allowed_cidrs.join('\n'));
  const update = useMutation(
    trpc.agents.update.mutationOptions({
      onSuccess: () => {
        notifyDone('Saved');
        return cache.invalidateQueries(trpc.agents.pathFilter());
      },
    }),
  );
  const refusal = update.error ? gateRefusal(update.error) : undefined;
  return (
    <SectionCard title="Limits" description="They count for sessions and for calls.">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          const allowed_cidrs = cidrs.split(/[\s,]+/).filter(Boolean);
          update.mutate({ id: agent.id, allowed_route_ids: ids, allowed_cidrs });
        }}
      >
        <Field label="Routes" optional hint="Leave empty for every route.">
          <MultiCombobox
            placeholder="Every route"
            options={routes.map(({ id, name }) => ({ value: id, label: name }))}
            values={ids}
            onValuesChange={(next) => setIds([...next])}
          />
        </Field>
        <Field label="Source addresses" optional hint="One IP address or CIDR block per line. Leave empty to allow any.">
          <Textarea mono rows={2} value={cidrs} placeholder="10.0.0.0/8" onChange={(event) => setCidrs(event.target.value)} />
        </Field>
        {refusal && <Refused refusal={refusal} />}
        <div>
          <Button
            type="submit"
            disabledReason={forbidden ?? (agent.status === 'revoked' ? 'This agent was revoked' : undefined)}
            loading={update.isPending}
          >
            Save limits
          </Button>
        </div>
      </form>
    </SectionCard>
  );
}
