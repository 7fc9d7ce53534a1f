'use client';

import { useQuery } from '@tanstack/react-query';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Status } from '#components/ui/badge.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { FailingNotice } from './failing-notice.tsx';
import { WebhookOverview } from './overview-tab.tsx';
import { stateOf } from './webhook-labels.ts';

const DeliveriesTab = lazyTab(() => import('./deliveries-tab.tsx').then((module) => module.DeliveriesTab));
const SignatureTab = lazyTab(() => import('./signature-tab.tsx').then((module) => module.SignatureTab));
const TestTab = lazyTab(() => import('./test-tab.tsx').then((module) => module.TestTab));
const SettingsTab = lazyTab(() => import('./settings-tab.tsx').then((module) => module.SettingsTab));

const TABS = ['overview', 'deliveries', 'signature', 'test', 'activity', 'settings'] as const;
const LABELS = {
  overview: 'Overview',
  deliveries: 'Deliveries',
  signature: 'Signature',
  test: 'Test',
  activity: 'Activity',
  settings: 'Settings',
} as const;

/** One webhook: how it does, what was sent, how it is signed. */
export function WebhookView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'));
  const query = useQuery(trpc.webhooks.get.queryOptions({ id }));
  const back = { href: path('/webhooks'), label: 'Webhooks' };
  const webhook = query.data;
  if (query.isError || !webhook)
    return (
      <Page>
        <PageHeader title="Webhook" back={back} />
        {query.isError ? <QueryError query={query} what="Webhook" /> : <Skeleton lines={6} label="Loading webhook" />}
      </Page>
    );
  const { state, label } = stateOf(webhook, webhook);
  return (
    <Page>
      <Crumbs crumbs={[{ label: webhook.name }]} />
      <PageHeader
        back={back}
        title={webhook.name}
        description={webhook.description ?? undefined}
        badges={<Status state={state}>{label}</Status>}
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={webhook.id} label="ID" />
        </p>
      </PageHeader>
      <TabLinks
        label="Webhook"
        tabs={TABS.map((one) => ({ href: one === 'overview' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      <FailingNotice webhook={webhook} />
      {tab === 'overview' && <WebhookOverview webhook={webhook} />}
      {tab === 'deliveries' && <DeliveriesTab webhook={webhook} />}
      {tab === 'signature' && <SignatureTab webhook={webhook} />}
      {tab === 'test' && <TestTab webhook={webhook} />}
      {tab === 'activity' && <Activity resource_type="webhook" resource_id={webhook.id} />}
      {tab === 'settings' && <SettingsTab webhook={webhook} />}
    </Page>
  );
}
