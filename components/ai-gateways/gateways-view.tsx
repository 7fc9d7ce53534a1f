'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Bot, Plus, Wand2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { type Gateway, STATUS } from './ai-labels.ts';
import { gatewayQuery, gatewaySearch } from './list-search.ts';
import { SpendBars } from './spend-bars.tsx';
import { TrafficCards } from './traffic-cards.tsx';

const GatewaySheet = lazyOverlay(() => import('./gateway-sheet.tsx').then((module) => module.GatewaySheet), whenOpen);
const AgentWizard = lazyOverlay(() => import('./agent-wizard.tsx').then((module) => module.AgentWizard), whenOpen);

/** The AI gateways of the space: what they spend, what they refuse, which models they call. */
export function GatewaysView() {
  const trpc = useTRPC();
  const { api_url } = useScope();
  const path = usePath();
  const router = useRouter();
  const forbidden = useForbidden('ai_gateway:create');
  const limit = useLimit('ai_gateways', 'gateways');
  const [search, setSearch] = useQueryStates(gatewaySearch);
  const panel = usePanel('open');
  const list = useQuery(trpc.aiGateways.list.queryOptions(gatewayQuery(search), { placeholderData: keepPreviousData }));
  useHotkeys([{ keys: 'c', label: 'New agent', group: 'List', run: () => !forbidden && void panel.open('agent') }]);
  const rows = list.data?.data;
  const newAgent = (
    <Button variant="primary" icon={<Wand2 />} keys="c" disabledReason={forbidden} onClick={() => void panel.open('agent')}>
      New agent
    </Button>
  );
  const close = () => void panel.close();
  return (
    <Page>
      <PageHeader
        title="Gateways"
        description="Agents call models through a gateway. It injects the provider’s key, keeps budgets and can stop everything at once."
        usage={limit}
        actions={
          <>
            <Button icon={<Plus />} disabledReason={forbidden} onClick={() => void panel.open('new')}>
              New gateway
            </Button>
            {newAgent}
          </>
        }
      />
      {list.isError && !list.data ? (
        <QueryError query={list} what="Gateways" />
      ) : !rows ? (
        <Skeleton lines={5} label="Loading gateways" />
      ) : rows.length === 0 && search.status === null ? (
        <EmptyState
          icon={<Bot />}
          title="No AI gateway yet"
          action={newAgent}
          command={[
            {
              id: 'curl',
              label: 'cURL',
              language: 'bash',
              code: `curl ${api_url}/ai-gateway/gateways \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"Default","slug":"default"}'`,
            },
          ]}
        >
          Store a provider’s key once and hand out tokens instead: each with a budget, an expiry and an audit trail.
        </EmptyState>
      ) : (
        <>
          <Segmented
            label="Status"
            value={search.status ?? 'all'}
            onValueChange={(status) => void setSearch({ status: status === 'all' ? null : status, page: null })}
            options={[
              { value: 'all', label: 'All' },
              { value: 'active', label: 'Active' },
              { value: 'paused', label: 'Paused' },
              { value: 'archived', label: 'Archived' },
            ]}
          />
          {rows.length === 0 ? (
            <NoResults noun="gateways" filters={[search.status ?? '']} onClear={() => void setSearch({ status: null, page: null })} />
          ) : (
            <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
              {rows.map((gateway) => (
                <li key={gateway.id}>
                  <Card gateway={gateway} />
                </li>
              ))}
            </ul>
          )}
          <Pagination noun="gateways" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
          {rows.length > 0 && <TrafficCards />}
        </>
      )}
      <GatewaySheet
        open={panel.id === 'new' && !forbidden}
        onClose={close}
        onCreated={(id) => router.replace(path(`/ai/gateways/${id}`))}
      />
      <AgentWizard open={panel.id === 'agent' && !forbidden} onClose={close} />
    </Page>
  );
}

function Card({ gateway }: { gateway: Gateway }) {
  const path = usePath();
  const { state, label } = STATUS[gateway.status];
  return (
    <Link
      href={path(`/ai/gateways/${gateway.id}`)}
      className="flex h-full flex-col gap-3 rounded-lg border border-line-strong bg-surface p-4 transition-colors hover:border-line-control"
    >
      <span className="flex items-center gap-2">
        <span className="truncate font-semibold text-base">{gateway.name}</span>
        <span className="ml-auto shrink-0 text-xs">
          <Status state={state}>{label}</Status>
        </span>
      </span>
      {(gateway.paused_reason ?? gateway.description) && (
        <span className="line-clamp-2 text-ink-2">{gateway.paused_reason ?? gateway.description}</span>
      )}
      <span className="mt-auto flex flex-col gap-2">
        <SpendBars of="gateway" id={gateway.id} />
      </span>
    </Link>
  );
}
