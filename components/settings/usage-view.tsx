'use client';

import { useQuery } from '@tanstack/react-query';
import { Check, Lock } from 'lucide-react';
import { useState } from 'react';
import { usePlan } from '#components/trpc/plan.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Page, PageHeader, SectionCard, Split, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Meter } from '#components/ui/meter.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { DailyCalls } from '#components/usage/daily-calls.tsx';
import { ForecastMeter } from '#components/usage/forecast-meter.tsx';
import { type Feature, PLANS, planFeature } from '#server/domain/plans/schema.ts';
import { FEATURE_WORDS, LIMIT_PAGES, LIMIT_WORDS } from './plan-labels.ts';
import { daysKept } from './retention-text.ts';

/** Every limit with what is used of it, what the plan includes, and what happens at the end of a limit. */
export function UsageView() {
  const trpc = useTRPC();
  const { slug } = useScope();
  const plan = usePlan();
  const usage = useQuery(trpc.account.usage.queryOptions({}));
  const [now] = useState(() => Date.now());
  if (plan.isError)
    return (
      <Page>
        <PageHeader title="Usage" />
        <QueryError query={plan} what="Your plan" />
      </Page>
    );
  if (usage.isError)
    return (
      <Page>
        <PageHeader title="Usage" />
        <QueryError query={usage} what="Usage" />
      </Page>
    );
  if (!plan.data || !usage.data)
    return (
      <Page>
        <PageHeader title="Usage" />
        <Skeleton lines={10} label="Loading plan and usage" />
      </Page>
    );
  const { limits, features } = plan.data;
  const { api_calls, forecast, billing_period } = usage.data;
  const counted = limits.flatMap(({ key, ...limit }) => {
    const name = LIMIT_WORDS[key];
    return name && key !== 'api_calls' ? [{ key, name, ...limit }] : [];
  });
  const month = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    Date.UTC(billing_period.year, billing_period.month - 1, 1),
  );
  const rate = limits.find((limit) => limit.key === 'tenant_rps')?.limit;
  return (
    <Page>
      <PageHeader
        title="Usage"
        description="Usage in Live. Test has its own limits, and calls in Test are free."
        badges={
          <>
            <Badge tone="accent">{capitalize(plan.data.plan)}</Badge>
            <span className="text-ink-3">{capitalize(plan.data.status)}</span>
          </>
        }
      />
      <Split
        side={
          <>
            <SectionCard title="Plan details">
              <KeyValueList
                items={[
                  { label: 'Request log retention', value: daysKept(usage.data.log_retention_days) },
                  {
                    label: 'Audit log retention',
                    value: daysKept(usage.data.audit_retention_days),
                    hint: 'Critical entries are kept forever.',
                  },
                  { label: 'Rate limit', value: rate === null || rate === undefined ? 'Custom' : `${grouped(rate)} calls per second` },
                ]}
              />
            </SectionCard>
            <SectionCard title="Included" flush>
              <ul className="divide-y divide-line">
                {features.map(({ key, included }) => {
                  const name = FEATURE_WORDS[key as Feature];
                  return name && <FeatureRow key={key} feature={key as Feature} name={name} included={included} />;
                })}
              </ul>
            </SectionCard>
            <BillingLink />
          </>
        }
      >
        <SectionCard title={`Calls in ${month}`} description="Since the first of the month, 00:00 UTC.">
          {api_calls.limit === null ? (
            <p className="figures">
              <b className="font-semibold text-xl">{grouped(api_calls.used)}</b>{' '}
              <span className="text-ink-2">
                calls, unlimited. {forecast.api_calls !== null && `About ${grouped(forecast.api_calls)} expected by the end of the month.`}
              </span>
            </p>
          ) : (
            <ForecastMeter {...api_calls} limit={api_calls.limit} forecast={forecast.api_calls} now={now} />
          )}
          <p className="mt-3 text-ink-2">
            {api_calls.limit !== null && (
              <>
                When the limit is reached, calls are refused with 402 <code className="font-mono text-xs">plan_limit</code> until the end of
                the month. There are no overage charges.{' '}
              </>
            )}
            Only successful Live calls count.
          </p>
        </SectionCard>
        <DailyCalls year={billing_period.year} month={billing_period.month} />
        <SectionCard title="Resources" description="At a limit, you can’t create more. Existing resources keep working.">
          <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
            {counted.map(({ key, name, limit, used, overridden }) => (
              <LimitRow
                key={key}
                name={name}
                page={LIMIT_PAGES[key] && `/${slug}/live${LIMIT_PAGES[key]}`}
                used={used ?? 0}
                limit={limit}
                overridden={overridden}
              />
            ))}
          </div>
        </SectionCard>
      </Split>
    </Page>
  );
}

/** Billing is for Owners and Admins; the others ask one of them. */
function BillingLink() {
  const { slug } = useScope();
  if (useForbidden('billing:read')) return <Callout title="To change the plan, ask an Owner" />;
  return <LinkButton href={`/${slug}/settings/billing`}>Plans and billing</LinkButton>;
}

function LimitRow({
  name,
  page,
  used,
  limit,
  overridden,
}: {
  name: string;
  page: string | undefined;
  used: number;
  limit: number | null;
  overridden: boolean;
}) {
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex items-baseline justify-between gap-3">
        {page ? (
          <Link className={textLink} href={page}>
            {name}
          </Link>
        ) : (
          <span>{name}</span>
        )}
        <span className="figures text-ink-2 text-xs">
          {grouped(used)} {limit === null ? '' : `of ${grouped(limit)}`}
          {overridden && ' (custom)'}
        </span>
      </div>
      {limit === null ? <p className="text-ink-3 text-xs">Unlimited</p> : <Meter bare label={name} value={used} max={limit} />}
    </div>
  );
}

function FeatureRow({ feature, name, included }: { feature: Feature; name: string; included: boolean }) {
  const from = PLANS.find((plan) => planFeature(plan, feature));
  return (
    <li className="flex items-center gap-2 px-4 py-2">
      {included ? (
        <Check aria-hidden className="size-4 shrink-0 text-good-ink" />
      ) : (
        <Lock aria-hidden className="size-4 shrink-0 text-ink-3" />
      )}
      <span className={included ? '' : 'text-ink-2'}>{name}</span>
      <span className="ml-auto text-ink-3 text-xs">{included ? 'Included' : `From ${from}`}</span>
    </li>
  );
}
