'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus, Vault as VaultIcon } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { FORMATS_ABOUT } from '#server/domain/vaults/formats.shared.ts';
import { vaultListInput, vaultSearch } from './list-search.ts';
import { CUSTODY, type Usage, type VaultRow } from './vault-labels.ts';

const CreateVaultSheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateVaultSheet), whenOpen);

/** The vaults of the space as cards, with their figures. */
export function VaultGrid() {
  const trpc = useTRPC();
  const { api_url } = useScope();
  const path = usePath();
  const router = useRouter();
  const readOnly = useForbidden('vault:create');
  const limit = useLimit('vaults', 'vaults');
  const [search, setSearch] = useQueryStates(vaultSearch);
  const form = usePanel('open');
  const list = useQuery(trpc.vaults.list.queryOptions(vaultListInput(search.page), { placeholderData: keepPreviousData }));
  const usage = useQuery(trpc.vaults.usage.queryOptions({}));
  useHotkeys([{ keys: 'c', label: 'New vault', group: 'List', run: () => !readOnly && void form.open('new') }]);
  const usageOf = usage.data && new Map(usage.data.data.map((row) => [row.id, row]));
  const newVault = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('new')}>
      New vault
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Vaults"
        description="Exchange sensitive values for tokens, and store only tokens in your own systems."
        usage={limit}
        actions={newVault}
      />
      {list.isError && !list.data ? (
        <QueryError query={list} what="Vaults" />
      ) : !list.data ? (
        <Skeleton lines={5} label="Loading vaults" />
      ) : list.data.data.length === 0 ? (
        <EmptyState
          icon={<VaultIcon />}
          title="No vaults yet"
          action={newVault}
          command={[
            {
              id: 'curl',
              label: 'cURL',
              language: 'bash',
              code: `curl ${api_url}/vaults \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"cards","token_format":"pan"}'`,
            },
          ]}
        >
          Create a vault, tokenize a value with one call, and keep the token in its place.
        </EmptyState>
      ) : (
        <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
          {list.data.data.map((vault) => (
            <li key={vault.id}>
              <Card vault={vault} usage={usageOf?.get(vault.id)} failed={usage.isError} />
            </li>
          ))}
        </ul>
      )}
      <Pagination noun="vaults" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
      <CreateVaultSheet
        open={form.id === 'new' && !readOnly}
        onClose={form.close}
        onCreated={(id) => router.replace(path(`/vaults/${id}`))}
      />
    </Page>
  );
}

function Card({ vault, usage, failed }: { vault: VaultRow; usage: Usage | undefined; failed: boolean }) {
  const path = usePath();
  return (
    <Link
      href={path(`/vaults/${vault.id}`)}
      className="flex h-full flex-col gap-2 rounded-lg border border-line-strong bg-surface p-4 transition-colors hover:border-line-control"
    >
      <span className="flex items-center gap-2">
        <span className="truncate font-semibold text-base">{vault.name}</span>
        <span className="ml-auto shrink-0 text-xs">
          <Status state={vault.enabled ? 'ok' : 'off'}>{vault.enabled ? 'On' : 'Disabled'}</Status>
        </span>
      </span>
      {vault.description && <span className="line-clamp-2 text-ink-2">{vault.description}</span>}
      <span className="flex flex-wrap gap-1.5">
        <Badge>{FORMATS_ABOUT[vault.token_format].label}</Badge>
        {vault.custody_mode === 'dual' && <Badge tone="accent">{CUSTODY.dual.title} custody</Badge>}
        {vault.dedupe && <Badge>One token per value</Badge>}
      </span>
      <span className="figures mt-auto flex flex-wrap gap-x-4 text-ink-3 text-xs">
        {usage ? (
          <>
            <span>{counted(usage.token_count, 'token')}</span>
            <span>{counted(usage.active_count, 'active', 'active')}</span>
            <span>{counted(usage.expiring_in_24h, 'expires', 'expire')} in 24 h</span>
            <span>
              Key version {usage.key_version}, <Time value={usage.key_rotated_at} />
            </span>
          </>
        ) : failed ? (
          'Metrics unavailable.'
        ) : (
          'counting…'
        )}
      </span>
    </Link>
  );
}
