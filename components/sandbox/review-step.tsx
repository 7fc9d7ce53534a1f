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
import { grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { ItemChanges } from './item-changes.tsx';
import { planColumns } from './plan-columns.tsx';
import { usePaged } from './use-paged.ts';
import { type Picks, planIn, useCarryOut, usePlan } from './use-plan.ts';
import { type Plan, spaceWord } from './words.ts';

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
        what="The plan"
        actions={
          <Button size="sm" onClick={onBack}>
            Pick again
          </Button>
        }
      />
    );
  if (!plan) return <Skeleton lines={8} label="Working out the plan" />;
  const { create, update } = plan.summary;
  const over = plan.limits.filter((one) => !one.fits);
  const nothing = create + update === 0;
  const verb = space === 'test' ? 'Promote' : 'Copy';
  const carryOut = () => run.mutate({ ...asked, plan });
  return (
    <>
      {newer && (
        <Callout tone="warn" title="Something changed since you looked, so nothing was done">
          This is the plan as it is now. Look at it once more before you go on.
        </Callout>
      )}
      {!newer && <MutationError error={run.error} />}
      <Summary plan={plan} over={over} />
      <DataTable
        caption={`The plan for ${spaceWord(plan.to)}`}
        columns={planColumns(plan.to, 'plan')}
        rows={rows}
        rowId={(item) => `${item.type}:${item.source_id}`}
        rowName={(item) => item.name}
        refreshing={query.isPlaceholderData}
      />
      <Pagination noun="things" {...pagination} />
      <ItemChanges plan={plan} />
      <SectionCard
        footer={
          <>
            <Button onClick={onBack}>Pick again</Button>
            <Button
              variant="primary"
              icon={space === 'test' ? <ArrowUpFromLine /> : <FlaskConical />}
              loading={run.isPending}
              disabledReason={
                nothing
                  ? 'The plan changes nothing'
                  : over.length > 0
                    ? 'It does not fit into the plan of the workspace'
                    : query.isFetching
                      ? 'The plan is being worked out'
                      : undefined
              }
              onClick={carryOut}
            >
              {verb} {grouped(create + update)} {create + update === 1 ? 'thing' : 'things'} to {spaceWord(plan.to)}
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
              label="Keep target URLs"
              description={`Routes that ${spaceWord(plan.to)} has go on calling what they call there.`}
            />
          )}
          <p className="text-ink-2">
            What only {spaceWord(plan.to)} has stays: nothing is deleted there, and no route that exists is switched on or off.
          </p>
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
          title={`${grouped(one.more)} more ${one.kind} do not fit: ${grouped(one.used)} of ${grouped(one.limit)} are used in ${to}`}
          actions={
            <LinkButton size="sm" href={`/${slug}/settings/usage`}>
              Plan and usage
            </LinkButton>
          }
        >
          Pick fewer, remove some there, or move to a larger plan.
        </Callout>
      ))}
      {plan.summary.conflict > 0 && (
        <Callout
          tone="warn"
          title={plan.summary.conflict === 1 ? 'One thing cannot go' : `${grouped(plan.summary.conflict)} things cannot go`}
        >
          The table says why. The rest goes without {plan.summary.conflict === 1 ? 'it' : 'them'}.
        </Callout>
      )}
      {fresh.length > 0 && (
        <Callout
          title={`${fresh.length === 1 ? 'One value is' : `Values of ${grouped(fresh.length)} secrets are`} yours to store in ${to}`}
        >
          {new Intl.ListFormat('en').format(fresh.slice(0, 5).map((one) => one.secret))}
          {fresh.length > 5 && ` and ${fresh.length - 5} more`}. What needs {fresh.length === 1 ? 'it' : 'them'} waits until then; the next
          page links to each.
        </Callout>
      )}
      {plan.to === 'test' && hosts.length > 0 && (
        <Callout tone="warn" title="In Test these routes would call the same upstreams as in Live">
          {new Intl.ListFormat('en').format(hosts.slice(0, 6))}
          {hosts.length > 6 && ` and ${hosts.length - 6} more`}. Give them the address of a sandbox before you switch them on.
        </Callout>
      )}
      {serving.length > 0 && (
        <Callout
          title={`${serving.length === 1 ? `“${serving[0]?.name}” serves` : `${grouped(serving.length)} routes serve`} calls in ${to} at once`}
        >
          {serving.length === 1 ? 'It is' : 'They are'} switched on here and {serving.length === 1 ? 'needs' : 'need'} no value of a secret.
          Only live keys can call.
        </Callout>
      )}
    </>
  );
}
