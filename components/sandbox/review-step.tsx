'use client';

import { ArrowUpFromLine, FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { ItemChanges } from './item-changes.tsx';
import { planColumns } from './plan-columns.tsx';
import { type Plan, spaceWord } from './plan-text.ts';
import { usePaged } from './use-paged.ts';
import { type Picks, planIn, useCarryOut, usePlan } from './use-plan.ts';

type Props = { picks: Exclude<Picks, 'all'>; onBack: () => void; onDone: (plan: Plan) => void };

/** The plan of what was picked: what each thing becomes, what comes along, what is missing, and what stands in the way. */
export function ReviewStep({ picks, onBack, onDone }: Props) {
  const { space } = useScope();
  const [keep, setKeep] = useState(false);
  const asked = { items: picks, keep_target_urls: keep };
  const query = usePlan(asked);
  const run = useCarryOut(onDone);
  const newer = planIn(run.error);
  const plan = newer ?? query.data;
  const { rows, pagination } = usePaged(plan?.items);
  if (query.error && !plan)
    return (
      <QueryError
        query={query}
        what="Plan"
        actions={
          <Button size="sm" onClick={onBack}>
            Change selection
          </Button>
        }
      />
    );
  if (!plan) return <Skeleton lines={8} label="Loading plan" />;
  const { create, update } = plan.summary;
  const over = plan.limits.filter((one) => !one.fits);
  const nothing = create + update === 0;
  const verb = space === 'test' ? 'Promote' : 'Copy';
  const carryOut = () => run.mutate({ ...asked, plan });
  return (
    <>
      {newer && (
        <Callout tone="warn" title="The plan has changed, so nothing was moved">
          Review the updated plan, then try again.
        </Callout>
      )}
      {!newer && <MutationError error={run.error} />}
      <Summary plan={plan} over={over} />
      <DataTable
        caption={`Plan for ${spaceWord(plan.to)}`}
        columns={planColumns(plan.to, 'plan')}
        rows={rows}
        rowId={(item) => `${item.type}:${item.source_id}`}
        rowName={(item) => item.name}
        refreshing={query.isPlaceholderData}
      />
      <Pagination noun="items" {...pagination} />
      <ItemChanges plan={plan} />
      <SectionCard
        footer={
          <>
            <Button onClick={onBack}>Change selection</Button>
            <Button
              variant="primary"
              icon={space === 'test' ? <ArrowUpFromLine /> : <FlaskConical />}
              loading={run.isPending}
              disabledReason={
                nothing
                  ? 'No changes to make'
                  : over.length > 0
                    ? 'Exceeds your plan’s limits'
                    : query.isFetching
                      ? 'Loading plan'
                      : undefined
              }
              onClick={carryOut}
            >
              {verb} {grouped(create + update)} {create + update === 1 ? 'item' : 'items'} to {spaceWord(plan.to)}
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-4">
          {plan.items.some((item) => item.type === 'route' && item.target_id !== null) && (
            <Checkbox
              checked={keep}
              onCheckedChange={(next) => {
                run.reset();
                setKeep(next);
              }}
              label="Keep upstream URLs"
              description={`Existing routes in ${spaceWord(plan.to)} keep their upstream URLs.`}
            />
          )}
          <p className="text-ink-2">Nothing in {spaceWord(plan.to)} is deleted, and existing routes aren’t turned on or off.</p>
        </div>
      </SectionCard>
    </>
  );
}

/** What the table says line by line, where it needs a decision or a next step. */
function Summary({ plan, over }: { plan: Plan; over: Plan['limits'] }) {
  const { slug } = useScope();
  const to = spaceWord(plan.to);
  const fresh = plan.missing_values;
  const serving = plan.items.filter((item) => item.type === 'route' && item.action === 'create' && item.enabled);
  const hosts = [...new Set(plan.items.flatMap((item) => (item.type === 'route' && item.action !== 'conflict' ? item.upstreams : [])))];
  return (
    <>
      {over.map((one) => (
        <Callout
          key={one.kind}
          tone="bad"
          title={`${grouped(one.more)} more ${one.kind} exceed your plan: ${grouped(one.used)} of ${grouped(one.limit)} used in ${to}`}
          actions={
            <LinkButton size="sm" href={`/${slug}/settings/usage`}>
              Plan and usage
            </LinkButton>
          }
        >
          Select fewer items, remove some in {to}, or upgrade your plan.
        </Callout>
      ))}
      {plan.summary.conflict > 0 && (
        <Callout tone="warn" title={`${counted(plan.summary.conflict, 'item')} can’t be moved`}>
          See the notes below. Everything else is moved.
        </Callout>
      )}
      {fresh.length > 0 && (
        <Callout title={`${counted(fresh.length, 'secret')} will need a value in ${to}`}>
          {new Intl.ListFormat('en').format(fresh.slice(0, 5).map((one) => one.secret))}
          {fresh.length > 5 && ` and ${fresh.length - 5} more`}. Routes that need {fresh.length === 1 ? 'it' : 'them'} stay off until you
          add
          {fresh.length === 1 ? ' it' : ' them'}.
        </Callout>
      )}
      {plan.to === 'test' && hosts.length > 0 && (
        <Callout tone="warn" title="These routes call the same upstreams as in Live">
          {new Intl.ListFormat('en').format(hosts.slice(0, 6))}
          {hosts.length > 6 && ` and ${hosts.length - 6} more`}. Change their upstream URLs before you turn them on.
        </Callout>
      )}
      {serving.length > 0 && (
        <Callout title={`${serving.length === 1 ? `“${serving[0]?.name}” goes` : `${grouped(serving.length)} routes go`} live immediately`}>
          {serving.length === 1 ? 'It’s' : 'They’re'} on and {serving.length === 1 ? 'needs' : 'need'} no secret values. Only live keys can
          call
          {serving.length === 1 ? ' it' : ' them'}.
        </Callout>
      )}
    </>
  );
}
