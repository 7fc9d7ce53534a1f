'use client';

import { useQuery } from '@tanstack/react-query';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { FORMATS_ABOUT } from '#server/domain/vaults/formats.shared.ts';
import { VaultOverview } from './overview-tab.tsx';
import { CUSTODY } from './vault-labels.ts';

const TokensTab = lazyTab(() => import('./tokens-tab.tsx').then((module) => module.TokensTab));
const KeyTab = lazyTab(() => import('./key-tab.tsx').then((module) => module.KeyTab));
const PoliciesTab = lazyTab(() => import('./policies-tab.tsx').then((module) => module.PoliciesTab));
const SettingsTab = lazyTab(() => import('./settings-tab.tsx').then((module) => module.SettingsTab));

const TABS = ['overview', 'tokens', 'key', 'policies', 'activity', 'settings'] as const;
const LABELS = {
  overview: 'Overview',
  tokens: 'Tokens',
  key: 'Key',
  policies: 'Policies',
  activity: 'Activity',
  settings: 'Settings',
} as const;

/** One vault: its figures, its tokens, its key, who may use it. */
export function VaultView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'));
  const query = useQuery(
    trpc.vaults.get.queryOptions(
      { vault: id },
      { refetchInterval: ({ state }) => (state.data?.rewrap && !state.data.rewrap.finished_at ? 2_000 : false) },
    ),
  );
  const back = { href: path('/vaults'), label: 'Vaults' };
  const vault = query.data;
  if (query.isError || !vault)
    return (
      <Page>
        <PageHeader title="Vault" back={back} />
        {query.isError ? <QueryError query={query} what="Vault" /> : <Skeleton lines={6} label="Loading vault" />}
      </Page>
    );
  return (
    <Page>
      <Crumbs crumbs={[{ label: vault.name }]} />
      <PageHeader
        back={back}
        title={vault.name}
        description={vault.description ?? undefined}
        badges={
          <>
            <Badge>{FORMATS_ABOUT[vault.token_format].label}</Badge>
            {vault.custody_mode === 'dual' && <Badge tone="accent">{CUSTODY.dual.title} custody</Badge>}
            {!vault.enabled && <Badge tone="warn">Disabled</Badge>}
          </>
        }
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={vault.id} label="ID" />
        </p>
      </PageHeader>
      <TabLinks
        label="Vault"
        tabs={TABS.map((one) => ({ href: one === 'overview' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {tab === 'overview' && <VaultOverview vault={vault} />}
      {tab === 'tokens' && <TokensTab vault={vault} />}
      {tab === 'key' && <KeyTab vault={vault} />}
      {tab === 'policies' && <PoliciesTab vault={vault} />}
      {tab === 'activity' && <Activity resource_type="vault" resource_id={vault.id} />}
      {tab === 'settings' && <SettingsTab vault={vault} />}
    </Page>
  );
}
