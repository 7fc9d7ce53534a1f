'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ban, KeyRound, Plane, RotateCw } from 'lucide-react';
import { parseAsInteger, parseAsStringLiteral, useQueryStates } from 'nuqs';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { KINDS, type Token, tokenState } from './ai-labels.ts';
import type { TokenOwner } from './mint-sheet.tsx';
import { scopeChips } from './token-chips.ts';

const MintSheet = lazyOverlay(() => import('./mint-sheet.tsx').then((module) => module.MintSheet), whenOpen);
const RotateDialog = lazyOverlay(
  () => import('./token-dialogs.tsx').then((module) => module.RotateDialog),
  ({ token }) => token !== undefined,
);
const RevokeDialog = lazyOverlay(
  () => import('./token-dialogs.tsx').then((module) => module.RevokeDialog),
  ({ token }) => token !== undefined,
);

const column = columnsFor<Token>();
const columns = [
  column.display({
    id: 'token',
    header: 'Token',
    meta: { cap: '16rem' },
    cell: ({ row: { original: token } }) => (
      <span className="flex min-w-0 flex-col py-1">
        <span className="truncate font-medium">{token.name ?? 'Unnamed'}</span>
        <span className="font-mono text-ink-3 text-xs">{token.prefix}…</span>
      </span>
    ),
  }),
  column.accessor('kind', { header: 'Kind', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => KINDS[getValue()].label }),
  column.display({
    id: 'scope',
    header: 'Scope',
    meta: { hideBelow: 'md', cap: '22rem' },
    cell: ({ row: { original: token } }) => {
      const chips = scopeChips(token.scope_jsonb);
      return (
        <span className="flex flex-wrap gap-1 py-1">
          {token.dpop_required && <Badge tone="accent">DPoP</Badge>}
          {token.origin !== 'minted' && <Badge tone="note">{token.origin === 'exchange' ? 'CI' : 'OAuth'}</Badge>}
          {chips.length === 0 ? (
            <span className="text-ink-3">{token.kind === 'tool' ? 'Every server of its gateway' : 'All of its agent'}</span>
          ) : (
            chips.map((chip) => <Badge key={chip}>{chip}</Badge>)
          )}
        </span>
      );
    },
  }),
  column.display({
    id: 'used',
    header: 'Last used',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original: token } }) => (
      <span className="flex flex-col">
        <Time value={token.last_used_at} empty="Never" />
        {token.last_country && <span className="text-ink-3 text-xs">{token.last_country}</span>}
      </span>
    ),
  }),
  column.accessor('expires_at', { header: 'Expires', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.display({
    id: 'state',
    header: 'Status',
    cell: ({ row: { original: token } }) => {
      const { state, label } = tokenState(token, Date.now());
      return <Status state={state}>{label}</Status>;
    },
  }),
];

const SHOWN = ['active', 'ended', 'all'] as const;

/** The capability tokens of an agent, or all of a gateway. Their texts are nowhere. */
export function TokenTable({ owner }: { owner: TokenOwner }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('ai_gateway:mint');
  const panel = usePanel('open');
  const [{ show, page }, setSearch] = useQueryStates({
    show: parseAsStringLiteral(SHOWN).withDefault('active'),
    page: parseAsInteger.withDefault(1),
  });
  const [rotating, setRotating] = useState<Token>();
  const [revoking, setRevoking] = useState<Token>();
  const query = {
    id: owner.id,
    page,
    per_page: 50,
    ...(show === 'all' ? {} : { active: show === 'active' ? ('true' as const) : ('false' as const) }),
  };
  const ofAgent = useQuery(
    trpc.aiGateways.listAgentTokens.queryOptions(query, { placeholderData: keepPreviousData, enabled: owner.of === 'agent' }),
  );
  const ofGateway = useQuery(
    trpc.aiGateways.listGatewayTokens.queryOptions(query, { placeholderData: keepPreviousData, enabled: owner.of === 'gateway' }),
  );
  const list = owner.of === 'agent' ? ofAgent : ofGateway;
  const clear = useMutation(
    trpc.aiGateways.clearStepUp.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('Token released');
        return cache.invalidateQueries(trpc.aiGateways.pathFilter());
      },
    }),
  );
  const mint = (
    <Button variant="primary" icon={<KeyRound />} disabledReason={forbidden} onClick={() => void panel.open('mint')}>
      Mint token
    </Button>
  );
  const held = list.data?.data.filter((token) => token.step_up_required && !token.revoked_at) ?? [];
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Segmented
          label="Show"
          value={show}
          onValueChange={(next) => void setSearch({ show: next, page: null })}
          options={[
            { value: 'active', label: 'Active' },
            { value: 'ended', label: 'Ended' },
            { value: 'all', label: 'All' },
          ]}
        />
        {mint}
      </div>
      {held.length > 0 && (
        <Callout
          tone="warn"
          title={held.length === 1 ? 'A token was used from two distant places' : `${held.length} tokens were used from two distant places`}
        >
          Its calls are refused until an Owner or Admin releases it with a second factor, or rotates it.
        </Callout>
      )}
      {list.isError ? (
        <QueryError query={list} what="Tokens" />
      ) : list.data?.data.length === 0 && show === 'ended' ? (
        <NoResults noun="tokens" filters={['Ended']} onClear={() => void setSearch({ show: null, page: null })} />
      ) : (
        <DataTable
          caption="Capability tokens"
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => row.name ?? row.prefix}
          refreshing={list.isPlaceholderData}
          actions={(row) => {
            const over = tokenState(row, Date.now()).state === 'off' ? 'It no longer works' : undefined;
            return [
              ...(row.step_up_required
                ? [
                    {
                      label: 'Release after travel',
                      icon: <Plane />,
                      disabledReason: over,
                      onSelect: () => clear.mutate({ token_id: row.id }),
                    },
                  ]
                : []),
              {
                label: 'Rotate',
                icon: <RotateCw />,
                disabledReason:
                  forbidden ??
                  over ??
                  (row.kind === 'oneshot' ? 'One-shot tokens can’t be rotated' : row.agent_id ? undefined : 'Mint another instead'),
                onSelect: () => setRotating(row),
              },
              { label: 'Revoke', icon: <Ban />, danger: true, disabledReason: forbidden ?? over, onSelect: () => setRevoking(row) },
            ];
          }}
          empty={
            <EmptyState icon={<KeyRound />} title="No tokens yet" action={mint}>
              A capability token takes the place of a provider’s key in your code. It expires, and can be narrowed or revoked at any time.
            </EmptyState>
          }
        />
      )}
      <Pagination noun="tokens" meta={list.data?.meta} onPage={(next) => void setSearch({ page: next })} />
      <MintSheet owner={owner} open={panel.id === 'mint' && !forbidden} onClose={() => void panel.close()} />
      <RotateDialog token={rotating} onClose={() => setRotating(undefined)} />
      <RevokeDialog token={revoking} onClose={() => setRevoking(undefined)} />
    </>
  );
}
