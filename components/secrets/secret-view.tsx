'use client';

import { useQuery } from '@tanstack/react-query';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { useTraffic } from '#components/logs/use-traffic.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { CopyButton, CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { SecretKind } from './secret-columns.tsx';
import { SecretState } from './secret-state.tsx';
import { shortcodeByName } from './secret-text.ts';
import { ShareBadges } from './share-badges.tsx';
import { SecretValues } from './values-tab.tsx';

const SecretHistory = lazyTab(() => import('./history-tab.tsx').then((module) => module.SecretHistory));
const SecretUsageTab = lazyTab(() => import('./usage-tab.tsx').then((module) => module.SecretUsageTab));
const SecretSharing = lazyTab(() => import('./sharing-tab.tsx').then((module) => module.SecretSharing));
const SecretSettings = lazyTab(() => import('./settings-tab.tsx').then((module) => module.SecretSettings));
const SecretConnection = lazyTab(() => import('./connection-tab.tsx').then((module) => module.SecretConnection));
const SecretCertificate = lazyTab(() => import('./certificate-tab.tsx').then((module) => module.SecretCertificate));
const TABS = ['values', 'connection', 'certificate', 'history', 'usage', 'sharing', 'settings', 'activity'] as const;
/** Where the value of each type is shown. */
const FIRST = { string: 'values', oauth2: 'connection', certificate: 'certificate' } as const;
const isTabOf = (type: keyof typeof FIRST) => (tab: (typeof TABS)[number]) =>
  tab === FIRST[type] || !(Object.values(FIRST) as string[]).includes(tab);
const LABELS = {
  values: 'Values',
  connection: 'Connection',
  certificate: 'Certificate',
  history: 'History',
  usage: 'Usage',
  sharing: 'Sharing',
  settings: 'Settings',
  activity: 'Activity',
} as const;

/** One secret: where it has values, who uses it, what became of it. A value only behind its gate. */
export function SecretView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [asked] = useQueryState('tab', parseAsStringLiteral(TABS));
  const query = useQuery(trpc.secrets.get.queryOptions({ id }));
  const traffic = useTraffic('secret', [id])(id);
  const back = { href: path('/secrets'), label: 'Secrets' };
  if (query.isError)
    return (
      <Page>
        <PageHeader title="Secret" back={back} />
        <QueryError query={query} what="Secret" />
      </Page>
    );
  const secret = query.data;
  if (!secret)
    return (
      <Page>
        <PageHeader title="Secret" back={back} />
        <Skeleton lines={6} label="Loading secret" />
      </Page>
    );
  const shown = asked && isTabOf(secret.secret_type)(asked) ? asked : FIRST[secret.secret_type];
  return (
    <Page>
      <Crumbs crumbs={[{ label: secret.name }]} />
      <PageHeader
        back={back}
        title={<span className="font-mono text-lg">{secret.name}</span>}
        description={secret.description ?? undefined}
        badges={
          <>
            <SecretKind type={secret.secret_type} />
            <SecretState secret={secret} />
            <ShareBadges secret={secret} />
            {secret.tags.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </>
        }
        actions={<CopyButton value={shortcodeByName(secret.name)} label="of this secret" text="Copy placeholder" size="md" />}
      >
        <p className="-mt-1 flex flex-wrap items-center gap-x-3 text-ink-3 text-xs">
          <CopyText value={secret.id} label="ID" />
          <span>
            {traffic && (
              <>
                {traffic.last_at ? (
                  <>
                    Last used <Time value={traffic.last_at} />
                  </>
                ) : (
                  'Never used'
                )}
                {traffic.calls_30d > 0 && `, ${counted(traffic.calls_30d, 'call')} in 30 days`}.{' '}
              </>
            )}
            Used by {secret.reference_count === 0 ? 'no routes' : counted(secret.reference_count, 'reference')}.
          </span>
          <span className="inline-flex max-w-full flex-wrap items-center gap-x-1.5">
            Use in routes as <CopyText value={shortcodeByName(secret.name)} label="placeholder" />
          </span>
        </p>
      </PageHeader>
      <TabLinks
        label="Secret"
        tabs={TABS.filter(isTabOf(secret.secret_type)).map((one) => ({
          href: one === FIRST[secret.secret_type] ? '?' : `?tab=${one}`,
          label: LABELS[one],
          active: shown === one,
          ...(one === 'values' ? { count: secret.environments.length } : {}),
        }))}
      />
      {shown === 'values' && <SecretValues secret={secret} />}
      {shown === 'connection' && <SecretConnection secret={secret} />}
      {shown === 'certificate' && <SecretCertificate secret={secret} />}
      {shown === 'history' && <SecretHistory secret={secret} />}
      {shown === 'usage' && <SecretUsageTab id={secret.id} />}
      {shown === 'sharing' && <SecretSharing secret={secret} />}
      {shown === 'settings' && <SecretSettings key={secret.id} secret={secret} />}
      {shown === 'activity' && <Activity {...(secret.escrow ? {} : { resource_type: 'secret' })} resource_id={secret.id} />}
    </Page>
  );
}
