'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { LIMIT_WORDS } from '#components/settings/plan-labels.ts';
import { usePlan } from '#components/trpc/plan.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Page, PageHeader, SectionCard, Split } from '#components/ui/layout.tsx';
import { Meter } from '#components/ui/meter.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { Billing } from './billing.ts';
import { dayOf, stateOf } from './billing-text.ts';
import { CompanyCard } from './company-card.tsx';
import { Invoices } from './invoices.tsx';
import { Plans } from './plans.tsx';
import { SubscriptionActions } from './subscription-actions.tsx';
import { useBillingChanged } from './use-billing-changed.ts';

/** The plan of the workspace, what it costs and what is used of it. */
export function BillingView() {
  const trpc = useTRPC();
  const query = useQuery(trpc.billing.get.queryOptions({}));
  const billing = query.data;
  return (
    <Page>
      <PageHeader
        title="Billing"
        description="Plan, payment and invoices of this workspace."
        badges={
          billing && (
            <>
              <Badge tone="accent">{capitalize(billing.plan)}</Badge>
              <span className="text-ink-3">{capitalize(billing.status.replace('_', ' '))}</span>
            </>
          )
        }
      />
      {query.isError ? (
        <QueryError query={query} what="Billing" />
      ) : !billing ? (
        <Skeleton lines={10} label="Loading billing" />
      ) : (
        <>
          <StateCallout billing={billing} />
          <Split
            side={
              <>
                <SubscriptionCard billing={billing} />
                <CompanyCard company={billing.company} />
              </>
            }
          >
            <Plans billing={billing} />
            <UsageCard />
            <Invoices invoices={billing.invoices} driver={billing.driver} />
          </Split>
        </>
      )}
    </Page>
  );
}

function StateCallout({ billing }: { billing: Billing }) {
  const trpc = useTRPC();
  const state = stateOf(billing);
  const forbidden = useForbidden('billing:change_plan');
  const done = useBillingChanged();
  const resume = useMutation(trpc.billing.resume.mutationOptions({ onSuccess: () => done('Subscription resumed') }));
  const free = useMutation(trpc.billing.checkout.mutationOptions({ onSuccess: () => done('The workspace is on the Free plan') }));
  if (!state) return null;
  const resumable = billing.paused_by === 'owner' || (billing.cancel_at !== null && billing.status !== 'cancelled');
  return (
    <Callout
      tone={state.tone}
      title={state.title}
      actions={
        <>
          {resumable && (
            <Button size="sm" loading={resume.isPending} disabledReason={forbidden} onClick={() => resume.mutate({})}>
              {billing.paused_by === 'owner' ? 'Resume' : 'Undo the cancellation'}
            </Button>
          )}
          {billing.status === 'cancelled' && (
            <Button size="sm" loading={free.isPending} disabledReason={forbidden} onClick={() => free.mutate({ plan: 'free' })}>
              Return to Free
            </Button>
          )}
        </>
      }
    >
      {state.text}
    </Callout>
  );
}

function SubscriptionCard({ billing }: { billing: Billing }) {
  const { interval, period, payment_method: card, trial, driver } = billing;
  return (
    <SectionCard title="Subscription" footer={<SubscriptionActions billing={billing} />}>
      <KeyValueList
        items={[
          { label: 'Plan', value: capitalize(billing.plan) },
          ...(interval ? [{ label: 'Billed', value: interval === 'month' ? 'Monthly' : 'Yearly' }] : []),
          ...(period.end ? [{ label: 'Period ends', value: dayOf(period.end) }] : []),
          ...(trial.end && billing.status === 'trialing' ? [{ label: 'Trial ends', value: dayOf(trial.end) }] : []),
          {
            label: 'Payment',
            value: card
              ? `${capitalize(card.brand)} ending in ${card.last4}, ${String(card.exp_month).padStart(2, '0')}/${card.exp_year}`
              : driver === 'manual'
                ? 'Arranged with the operator'
                : 'No payment method',
          },
        ]}
      />
    </SectionCard>
  );
}

/** The limits that count things, of the plan as it stands. */
function UsageCard() {
  const plan = usePlan();
  if (plan.isError) return <QueryError query={plan} what="Usage" />;
  const limits = plan.data?.limits.filter(({ key, limit }) => LIMIT_WORDS[key] && limit !== null) ?? [];
  return (
    <SectionCard title="Usage of this plan" description="In Live. At a limit, you can’t create more; what exists keeps working.">
      {!plan.data ? (
        <Skeleton lines={4} label="Loading usage" />
      ) : limits.length === 0 ? (
        <p className="text-ink-2">This plan has no limits on what you create.</p>
      ) : (
        <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
          {limits.map(({ key, used, limit }) => (
            <Meter key={key} label={LIMIT_WORDS[key] ?? key} value={used ?? 0} max={limit ?? 0} />
          ))}
        </div>
      )}
    </SectionCard>
  );
}
