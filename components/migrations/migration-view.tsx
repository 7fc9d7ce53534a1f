'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { useState } from 'react';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { Progress } from '#components/ui/progress.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { PROVIDER_LABELS } from '#server/domain/migrations/register.shared.ts';
import { ItemsTab } from './items-tab.tsx';
import { canCancel, type Detail, pollOf, progressOf, STATUS } from './labels.ts';

const CommitTab = lazyTab(() => import('./commit-tab.tsx').then((module) => module.CommitTab));
const RulesTab = lazyTab(() => import('./rules-tab.tsx').then((module) => module.RulesTab));
const DbRoutesTab = lazyTab(() => import('./db-routes-tab.tsx').then((module) => module.DbRoutesTab));
const VerificationTab = lazyTab(() => import('./verification-tab.tsx').then((module) => module.VerificationTab));

const TABS = ['items', 'commit', 'rules', 'routes', 'verification', 'activity'] as const;
const LABELS = {
  items: 'Items',
  commit: 'Commit',
  rules: 'Intercept rules',
  routes: 'DB proxy routes',
  verification: 'Verification',
  activity: 'Activity',
} as const;

/** One migration: what it found, what became of it, and how the cutover stands. */
export function MigrationView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('items'));
  const query = useQuery(
    trpc.migrations.get.queryOptions({ id }, { refetchInterval: ({ state }) => pollOf(state.data ? [state.data.status] : []) }),
  );
  const back = { href: path('/migrations'), label: 'Migrations' };
  const migration = query.data;
  if (query.isError || !migration)
    return (
      <Page>
        <PageHeader title="Migration" back={back} />
        {query.isError ? <QueryError query={query} what="Migration" /> : <Skeleton lines={6} label="Loading migration" />}
      </Page>
    );
  const { label, state } = STATUS[migration.status];
  return (
    <Page>
      <Crumbs crumbs={[{ label: PROVIDER_LABELS[migration.provider] }]} />
      <PageHeader
        back={back}
        title={PROVIDER_LABELS[migration.provider]}
        badges={
          <>
            <Status state={state}>{label}</Status>
            {migration.region && <Badge mono>{migration.region}</Badge>}
          </>
        }
        actions={<Actions migration={migration} />}
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={migration.id} label="ID" />
        </p>
      </PageHeader>
      <Standing migration={migration} />
      <TabLinks
        label="Migration"
        tabs={TABS.map((one) => ({ href: one === 'items' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {tab === 'items' && <ItemsTab migration={migration} />}
      {tab === 'commit' && <CommitTab migration={migration} />}
      {tab === 'rules' && <RulesTab migration={migration} />}
      {tab === 'routes' && <DbRoutesTab migration={migration} />}
      {tab === 'verification' && <VerificationTab migration={migration} />}
      {tab === 'activity' && <Activity resource_type="secret_migration" resource_id={migration.id} />}
    </Page>
  );
}

/** How far it is, what went wrong, and when what is undecided goes. */
function Standing({ migration }: { migration: Detail }) {
  const { done, of } = progressOf(migration);
  const text = `${grouped(done)} of ${grouped(of)} decided`;
  const { error_details, review_deadline } = migration;
  return (
    <div className="flex flex-col gap-3">
      {error_details && (
        <Callout tone={migration.status === 'failed' ? 'bad' : 'warn'} title={error_details.message}>
          {migration.status === 'failed' ? 'Correct the grant at the store, then retry.' : 'It is tried again by itself.'}
        </Callout>
      )}
      {review_deadline && (
        <Callout tone="warn" title="Undecided values are erased at the review deadline">
          The first of them <Time value={review_deadline} />. Commit approved items before that, too.
        </Callout>
      )}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <Progress label="Decided items" done={done} of={of} text={text} className="w-48" />
        <p role="status" className="figures flex flex-wrap gap-x-3 text-ink-2 text-xs">
          <span>{text}</span>
          <span>{counted(migration.discovered_count, 'item')} found</span>
          <span>{grouped(migration.pending_count)} to review</span>
          <span>{grouped(migration.approved_count)} approved</span>
          <span>{grouped(migration.committed_count)} committed</span>
          <span>{grouped(migration.denylisted_count)} denied</span>
        </p>
      </div>
    </div>
  );
}

function Actions({ migration }: { migration: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const forbidden = useForbidden('migration:cancel');
  const [canceling, setCanceling] = useState(false);
  const refresh = () => queryClient.invalidateQueries(trpc.migrations.pathFilter());
  const retry = useMutation(
    trpc.migrations.retry.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('The store is read again');
        return refresh();
      },
    }),
  );
  const cancel = useMutation(
    trpc.migrations.cancel.mutationOptions({
      onSuccess: () => {
        setCanceling(false);
        notifyDone('Migration canceled');
        return refresh();
      },
    }),
  );
  return (
    <>
      {migration.status === 'failed' && (
        <Button
          icon={<RotateCcw />}
          loading={retry.isPending}
          disabledReason={forbidden}
          onClick={() => retry.mutate({ id: migration.id })}
        >
          Retry
        </Button>
      )}
      {canCancel(migration) && (
        <Button variant="danger-quiet" disabledReason={forbidden} onClick={() => setCanceling(true)}>
          Cancel migration
        </Button>
      )}
      <ConfirmDanger
        open={canceling}
        onOpenChange={(next) => {
          if (next) return;
          cancel.reset();
          setCanceling(false);
        }}
        title="Cancel this migration?"
        consequences={[
          `${counted(migration.pending_count + migration.approved_count, 'value')} that nobody committed are erased.`,
          'Its intercept rules and database proxy routes are removed: applications read the store again.',
          'Secrets that were committed stay.',
        ]}
        confirmLabel="Cancel migration"
        space={space}
        busy={cancel.isPending}
        error={cancel.error ? refusalOf(cancel.error) : undefined}
        onConfirm={() => cancel.mutate({ id: migration.id })}
      />
    </>
  );
}
