'use client';

import { BellOff, Check, EyeOff, RotateCcw, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { RouteIcon } from '#components/routes/route-icon.tsx';
import { usePath } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Progress } from '#components/ui/progress.tsx';
import { Time } from '#components/ui/time.tsx';
import { methodsOf, type OpportunityRow, travelOf } from './evidence.ts';
import { useDecisions } from './use-decisions.ts';

type CardProps = { opportunity: OpportunityRow; onAccept: () => void; onDismiss: () => void };

/** One host: what was seen of it, the route that would cover it, and what to decide. */
export function OpportunityCard({ opportunity, onAccept, onDismiss }: CardProps) {
  const { destination_host: host, service, source, evidence_json: evidence, suggested_route_json: route } = opportunity;
  const percent = `${Math.round((opportunity.confidence ?? 0) * 100)}%`;
  return (
    <article
      aria-labelledby={`host-${opportunity.id}`}
      className="flex h-full flex-col gap-3 rounded-lg border border-line-strong bg-surface p-4"
    >
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="flex min-w-0 items-start gap-2.5">
          <RouteIcon name={service} icon={undefined} className="mt-0.5" />
          <div className="min-w-0">
            <h2 id={`host-${opportunity.id}`} className="font-semibold text-base [overflow-wrap:anywhere]">
              {host}
            </h2>
            <p className="text-ink-3 text-xs">
              {service} · {source === 'gateway_traffic' ? 'Seen in gateway traffic' : 'Reported by SDKs'}
            </p>
          </div>
        </div>
        <div className="flex w-28 shrink-0 flex-col gap-1 text-xs">
          <span className="flex justify-between text-ink-2">
            Confidence <span className="figures text-ink">{percent}</span>
          </span>
          <Progress role="meter" label={`Confidence for ${host}`} done={opportunity.confidence ?? 0} of={1} text={percent} />
        </div>
      </header>
      {evidence && (
        <dl className="grid grid-cols-[minmax(0,1fr)] gap-x-6 gap-y-1.5 text-sm sm:grid-cols-2">
          <Fact label="Calls in 30 days">{grouped(evidence.calls_30d)}</Fact>
          <Fact label="Last seen">
            <Time value={evidence.last_seen} />
          </Fact>
          <Fact label="Credential now">{travelOf(evidence)}</Fact>
          <Fact label="Methods">{methodsOf(evidence) || '—'}</Fact>
        </dl>
      )}
      {route && opportunity.status !== 'onboarded' && (
        <div className="rounded-md border border-line bg-subtle px-3 py-2 text-xs">
          <p className="text-ink-3">Suggested route</p>
          <p className="mt-0.5 font-mono [overflow-wrap:anywhere]">
            {route.slug ?? route.name} → {route.target_base_url}
          </p>
          <p className="font-mono text-ink-2 [overflow-wrap:anywhere]">
            {route.header_name}: {route.value_prefix}
            <span aria-hidden>••••</span>
            <span className="sr-only">your secret</span>
          </p>
        </div>
      )}
      <State opportunity={opportunity} />
      <Decisions opportunity={opportunity} onAccept={onAccept} onDismiss={onDismiss} />
    </article>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col">
      <dt className="text-ink-3 text-xs">{label}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

function State({ opportunity: { status, snoozed_until, acted_at, dismiss_reason } }: { opportunity: OpportunityRow }) {
  if (status === 'pending') return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-ink-2 text-xs">
      {status === 'snoozed' && (
        <>
          <Badge icon={<BellOff />}>Snoozed</Badge>
          <span>
            Returns <Time value={snoozed_until} />
          </span>
        </>
      )}
      {status === 'onboarded' && (
        <>
          <Badge tone="good" icon={<Check />}>
            Accepted
          </Badge>
          <Time value={acted_at} />
        </>
      )}
      {status === 'dismissed' && (
        <>
          <Badge icon={<X />}>Dismissed</Badge>
          <Time value={acted_at} />
          {dismiss_reason && <span className="[overflow-wrap:anywhere]">{dismiss_reason}</span>}
        </>
      )}
    </p>
  );
}

const DAY = 24 * 3_600_000;

function Decisions({ opportunity, onAccept, onDismiss }: CardProps) {
  const { id, destination_host: host, status, accepted_route_id } = opportunity;
  const path = usePath();
  const mayAccept = [useForbidden('opportunity:accept'), useForbidden('route:create'), useForbidden('secret:read')];
  const notAccept = mayAccept.find((reason) => reason !== undefined);
  const notDecide = useForbidden('opportunity:dismiss');
  const { snooze, reopen, ignore } = useDecisions();
  if (status === 'onboarded')
    return accepted_route_id ? (
      <p className="mt-auto">
        <LinkButton size="sm" href={path(`/routes/${accepted_route_id}`)}>
          Open route
        </LinkButton>
      </p>
    ) : null;
  const again = (
    <Button
      size="sm"
      icon={<RotateCcw />}
      loading={reopen.isPending}
      disabledReason={notDecide}
      aria-label={`Reopen ${host}`}
      onClick={() => reopen.mutate({ id })}
    >
      Reopen
    </Button>
  );
  if (status === 'dismissed') return <p className="mt-auto">{again}</p>;
  const until = (days: number) => snooze.mutate({ id, until: new Date(Date.now() + days * DAY).toISOString() });
  return (
    <div className="mt-auto flex flex-wrap items-center gap-2">
      <Button size="sm" variant="primary" icon={<Check />} disabledReason={notAccept} aria-label={`Accept ${host}`} onClick={onAccept}>
        Accept
      </Button>
      {status === 'snoozed' && again}
      {status === 'pending' && (
        <Menu
          align="start"
          trigger={
            <Button size="sm" icon={<BellOff />} loading={snooze.isPending} disabledReason={notDecide} aria-label={`Snooze ${host}`}>
              Snooze
            </Button>
          }
          entries={[
            { label: 'For a day', onSelect: () => until(1) },
            { label: 'For a week', onSelect: () => until(7) },
            { label: 'For 30 days', onSelect: () => until(30) },
          ]}
        />
      )}
      <Button size="sm" icon={<X />} disabledReason={notDecide} aria-label={`Dismiss ${host}`} onClick={onDismiss}>
        Dismiss
      </Button>
      <Button
        size="sm"
        variant="ghost"
        icon={<EyeOff />}
        loading={ignore.isPending}
        disabledReason={notDecide}
        aria-label={`Ignore host ${host}`}
        onClick={() => ignore.mutate({ host: host ?? '' })}
      >
        Ignore host
      </Button>
    </div>
  );
}
