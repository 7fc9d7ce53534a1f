'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyPart, lazyTab } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { protocolText, TYPES } from './server-labels.ts';

const ToolsTab = lazyPart(() => import('./tools-tab.tsx').then((module) => module.ToolsTab));
const PrivacyTab = lazyTab(() => import('./privacy-tab.tsx').then((module) => module.PrivacyTab));
const PeopleTab = lazyTab(() => import('./people-tab.tsx').then((module) => module.PeopleTab));
const ConnectTab = lazyTab(() => import('./connect-tab.tsx').then((module) => module.ConnectTab));

const TABS = ['tools', 'privacy', 'people', 'connect', 'activity'] as const;
const LABELS = { tools: 'Tools', privacy: 'Auth & privacy', people: 'People', connect: 'Connect', activity: 'Activity' } as const;

/** One MCP server: its tools, how it signs in, who connected an account, and how clients reach it. */
export function ServerView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('ai_gateway:update');
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('tools'));
  const query = useQuery(trpc.mcpServers.get.queryOptions({ id }));
  const refresh = useMutation(
    trpc.mcpServers.refresh.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ tools, protocol }) => {
        if (!protocol.error) notifyDone(`${counted(tools.length, 'tool')} found`);
        return queryClient.invalidateQueries(trpc.mcpServers.pathFilter());
      },
    }),
  );
  const back = { href: path('/ai/mcp'), label: 'MCP servers' };
  const server = query.data;
  if (query.isError || !server)
    return (
      <Page>
        <PageHeader title="MCP server" back={back} />
        {query.isError ? <QueryError query={query} what="MCP server" /> : <Skeleton lines={6} label="Loading MCP server" />}
      </Page>
    );
  const upstream = server.server_type === 'upstream';
  return (
    <Page>
      <Crumbs crumbs={[{ label: server.name }]} />
      <PageHeader
        back={back}
        title={server.name}
        description={server.description ?? undefined}
        badges={
          <>
            <Badge>{TYPES[server.server_type]}</Badge>
            {upstream && <Badge mono>{protocolText(server)}</Badge>}
            {server.status !== 'active' && <Badge tone="warn">{server.status === 'paused' ? 'Paused' : 'Archived'}</Badge>}
          </>
        }
        actions={
          upstream && server.status !== 'archived' ? (
            <Button icon={<RefreshCw />} loading={refresh.isPending} disabledReason={forbidden} onClick={() => refresh.mutate({ id })}>
              Refresh tools
            </Button>
          ) : undefined
        }
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={server.id} label="ID" />
        </p>
      </PageHeader>
      {server.protocol.error && (
        <Callout tone="warn" title="The last probe failed">
          {server.protocol.error}
        </Callout>
      )}
      <TabLinks
        label="MCP server"
        tabs={TABS.filter((one) => upstream || one !== 'people').map((one) => ({
          href: one === 'tools' ? '?' : `?tab=${one}`,
          label: LABELS[one],
          active: one === tab,
        }))}
      />
      {tab === 'tools' && <ToolsTab server={server} />}
      {tab === 'privacy' && <PrivacyTab server={server} />}
      {tab === 'people' && <PeopleTab server={server} />}
      {tab === 'connect' && <ConnectTab server={server} />}
      {tab === 'activity' && <Activity resource_type="mcp_server" resource_id={server.id} />}
    </Page>
  );
}
