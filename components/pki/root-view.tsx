'use client';

import { useQuery } from '@tanstack/react-query';
import { FilePlus2 } from 'lucide-react';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { ROOT_STATES } from './pki-labels.ts';

const RootOverviewTab = lazyTab(() => import('./overview-tab.tsx').then((module) => module.RootOverviewTab));
const RolesTab = lazyTab(() => import('./roles-tab.tsx').then((module) => module.RolesTab));
const CertificatesTab = lazyTab(() => import('./certificates-tab.tsx').then((module) => module.CertificatesTab));
const CrlTab = lazyTab(() => import('./crl-tab.tsx').then((module) => module.CrlTab));
const AcmeTab = lazyTab(() => import('./acme-tab.tsx').then((module) => module.AcmeTab));
const SettingsTab = lazyTab(() => import('./settings-tab.tsx').then((module) => module.SettingsTab));
const IssueSheet = lazyOverlay(() => import('./issue-sheet.tsx').then((module) => module.IssueSheet), whenOpen);

const TABS = ['overview', 'roles', 'certificates', 'crl', 'acme', 'activity', 'settings'] as const;
const LABELS = {
  overview: 'Overview',
  roles: 'Roles',
  certificates: 'Certificates',
  crl: 'CRL',
  acme: 'ACME',
  activity: 'Activity',
  settings: 'Settings',
} as const;

/** One root: what it is trusted by, what it may certify, what it has certified and taken back. */
export function RootView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'));
  const panel = usePanel('open');
  const forbidden = useRevealForbidden('pki:issue');
  const query = useQuery(trpc.pki.getRoot.queryOptions({ name: id }));
  const back = { href: path('/pki'), label: 'Certificate authority' };
  const root = query.data;
  if (query.isError || !root)
    return (
      <Page>
        <PageHeader title="Root" back={back} />
        {query.isError ? <QueryError query={query} what="Root" /> : <Skeleton lines={6} label="Loading root" />}
      </Page>
    );
  const { state, label } = ROOT_STATES[root.status];
  return (
    <Page>
      <Crumbs crumbs={[{ label: root.name }]} />
      <PageHeader
        back={back}
        title={root.name}
        description={root.subject}
        badges={
          <>
            <Status state={state}>{label}</Status>
            {!root.publish && <Badge>Not published</Badge>}
          </>
        }
        actions={
          <Button
            variant="primary"
            icon={<FilePlus2 />}
            disabledReason={forbidden ?? (root.status === 'active' ? undefined : 'Only an active root issues certificates')}
            onClick={() => void panel.open('issue')}
          >
            Issue certificate
          </Button>
        }
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={root.id} label="ID" />
        </p>
      </PageHeader>
      <TabLinks
        label="Root"
        tabs={TABS.map((one) => ({ href: one === 'overview' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {tab === 'overview' && <RootOverviewTab root={root} />}
      {tab === 'roles' && <RolesTab root={root} />}
      {tab === 'certificates' && <CertificatesTab root={root} />}
      {tab === 'crl' && <CrlTab root={root} />}
      {tab === 'acme' && <AcmeTab root={root} />}
      {tab === 'activity' && <Activity resource_type="pki_root" resource_id={root.id} />}
      {tab === 'settings' && <SettingsTab root={root} />}
      <IssueSheet root={root} open={panel.id === 'issue' && !forbidden && root.status === 'active'} onClose={() => void panel.close()} />
    </Page>
  );
}
