'use client';

import { useMutation } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { useState } from 'react';
import { LIMIT_WORDS } from '#components/settings/plan-labels.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { cn } from '#components/ui/cn.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { type LimitKey, PLANS, type PlanName, planLimit } from '#server/domain/plans/schema.ts';
import type { Billing } from './billing.ts';
import { useBillingChanged } from './use-billing-changed.ts';

/** What tells the plans apart at a glance. */
const SHOWN: readonly LimitKey[] = ['api_calls', 'routes', 'secrets', 'environments', 'members', 'api_keys'];

/** The plans beside each other; one of them is the workspace's. */
export function Plans({ billing }: { billing: Billing }) {
  const intervals = [...new Set(billing.offers.map(({ interval }) => interval))];
  const [chosen, setChosen] = useState<'month' | 'year'>(billing.interval ?? 'month');
  const interval = intervals.includes(chosen) ? chosen : (intervals[0] ?? chosen);
  const { choose, plan: pending, error } = useCheckout(interval);
  const refusal = error ? refusalOf(error) : undefined;
  return (
    <SectionCard
      title="Plans"
      description={
        billing.driver === 'manual'
          ? 'The operator of this installation sets the plan. To change it, contact them.'
          : 'You pay on the pages of our payment provider.'
      }
      actions={
        intervals.length > 1 && (
          <Select
            label="Billing interval"
            size="sm"
            value={interval}
            onValueChange={setChosen}
            options={[
              { value: 'month', label: 'Monthly' },
              { value: 'year', label: 'Yearly' },
            ]}
          />
        )
      }
    >
      {refusal && <Callout tone="bad" title={refusal.message} requestId={refusal.request_id || undefined} className="mb-3" />}
      <ul className="grid gap-3 sm:grid-cols-2 2xl:grid-cols-4">
        {PLANS.map((plan) => (
          <PlanCard key={plan} plan={plan} billing={billing} interval={interval} pending={pending === plan} onChoose={() => choose(plan)} />
        ))}
      </ul>
    </SectionCard>
  );
}

/** The provider's page takes over the tab; a change of plan is done here. */
function useCheckout(interval: 'month' | 'year') {
  const trpc = useTRPC();
  const changed = useBillingChanged();
  const checkout = useMutation(
    trpc.billing.checkout.mutationOptions({
      onSuccess: ({ url, billing }) => {
        if (url) window.location.assign(url);
        else changed(`The workspace is on the ${capitalize(billing.plan)} plan`);
      },
    }),
  );
  return {
    choose: (plan: PlanName) => checkout.mutate({ plan, interval }),
    plan: checkout.isPending ? checkout.variables.plan : undefined,
    error: checkout.error,
  };
}

type PlanCardProps = { plan: PlanName; billing: Billing; interval: 'month' | 'year'; pending: boolean; onChoose: () => void };

function PlanCard({ plan, billing, interval, pending, onChoose }: PlanCardProps) {
  const forbidden = useForbidden('billing:change_plan');
  const current = billing.plan === plan && billing.status !== 'cancelled';
  const sold = billing.offers.some((offer) => offer.plan === plan && offer.interval === interval);
  const verb = PLANS.indexOf(plan) > PLANS.indexOf(billing.plan) ? 'Upgrade' : 'Switch';
  return (
    <li
      className={cn(
        'flex min-w-0 flex-col gap-3 rounded-lg border p-4',
        current ? 'border-accent-line bg-accent-soft' : 'border-line-strong',
      )}
    >
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-semibold">{capitalize(plan)}</h3>
        {current && (
          <Badge tone="accent" icon={<Check />}>
            Current plan
          </Badge>
        )}
      </div>
      <dl className="flex flex-1 flex-col gap-1 text-xs">
        {SHOWN.map((key) => {
          const limit = planLimit(plan, key);
          return (
            <div key={key} className="flex justify-between gap-3">
              <dt className="text-ink-2">{key === 'api_calls' ? 'Live calls per month' : LIMIT_WORDS[key]}</dt>
              <dd className="figures font-medium">{limit === null ? 'Unlimited' : grouped(limit)}</dd>
            </div>
          );
        })}
        <div className="flex justify-between gap-3">
          <dt className="text-ink-2">Log retention</dt>
          <dd className="figures font-medium">{planLimit(plan, 'log_retention_days')} days</dd>
        </div>
      </dl>
      {!current && plan !== 'free' && sold && (
        <Button variant={verb === 'Upgrade' ? 'primary' : 'secondary'} loading={pending} disabledReason={forbidden} onClick={onChoose}>
          {verb} to {capitalize(plan)}
        </Button>
      )}
    </li>
  );
}
