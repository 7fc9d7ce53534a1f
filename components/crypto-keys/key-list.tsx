'use client';

import { useQuery } from '@tanstack/react-query';
import { KeySquare, Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { KEY_TYPE_NAMES } from '#server/domain/crypto-keys/key-types.shared.ts';
import { type KeyRow, MANAGERS, MODES, TYPES, type Usage } from './key-labels.ts';
import { keySearch } from './list-search.ts';

const CreateKeySheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateKeySheet), whenOpen);

type Listed = KeyRow & { usage: Usage | undefined };
const column = columnsFor<Listed>();
const unknown = <span className="text-ink-3">…</span>;

const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '18rem' },
    cell: ({ row: { original } }) => (
      <span className="inline-flex min-w-0 max-w-full items-center gap-2">
        <span className="truncate">{original.name}</span>
        {original.managed_by !== 'tenant' && <Badge>{MANAGERS[original.managed_by]}</Badge>}
        {original.deletion_allowed && <Badge tone="warn">Destruction allowed</Badge>}
      </span>
    ),
  }),
  column.accessor('key_type', {
    header: 'Type',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="whitespace-nowrap">{TYPES[getValue()].label}</span>,
  }),
  column.accessor('mode', { header: 'Mode', meta: { hideBelow: 'lg' }, cell: ({ getValue }) => MODES[getValue()] }),
  column.accessor('current_version', {
    header: 'Version',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{getValue()}</span>,
  }),
  column.display({
    id: 'rotated',
    header: 'Rotated',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => (original.usage ? <Time value={original.usage.rotated_at} /> : unknown),
  }),
  column.display({
    id: 'encryptions',
    header: 'Encryptions this month',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ row: { original } }) => (original.usage ? <span className="figures">{grouped(original.usage.encryptions)}</span> : unknown),
  }),
  column.display({
    id: 'uses',
    header: 'Uses this month',
    meta: { align: 'right', hideBelow: 'xl' },
    cell: ({ row: { original } }) => (original.usage ? <span className="figures">{grouped(original.usage.uses)}</span> : unknown),
  }),
];

/** The crypto keys of the space. The list isn't paged: it is narrowed here. */
export function KeyList() {
  const trpc = useTRPC();
  const { api_url } = useScope();
  const path = usePath();
  const router = useRouter();
  const [search, setSearch] = useQueryStates(keySearch);
  const list = useQuery(trpc.cryptoKeys.list.queryOptions({}));
  const usage = useQuery(trpc.cryptoKeys.usage.queryOptions({}));
  const limit = useLimit('crypto_keys', 'keys');
  const readOnly = useForbidden('transit:create');
  const form = usePanel('open');
  useHotkeys([{ keys: 'c', label: 'New crypto key', group: 'List', run: () => !readOnly && void form.open('new') }]);

  const usageOf = usage.data && new Map(usage.data.data.map((row) => [row.id, row]));
  const words = search.q.toLowerCase();
  const rows = list.data?.data
    .filter(
      (key) =>
        `${key.name} ${key.description ?? ''}`.toLowerCase().includes(words) &&
        (search.type === null || key.key_type === search.type) &&
        (search.mode === null || key.mode === search.mode) &&
        (search.managed_by === null || key.managed_by === search.managed_by),
    )
    .map((key) => ({ ...key, usage: usageOf?.get(key.id) }));
  const clear = () => void setSearch({ q: null, type: null, mode: null, managed_by: null });
  const filter = (id: 'type' | 'mode' | 'managed_by', text: string): ActiveFilter => ({
    id,
    text,
    label: text,
    onRemove: () => void setSearch({ [id]: null }),
  });
  const filters = [
    ...(search.type ? [filter('type', `Type: ${TYPES[search.type].label}`)] : []),
    ...(search.mode ? [filter('mode', `Mode: ${MODES[search.mode]}`)] : []),
    ...(search.managed_by ? [filter('managed_by', `Managed by: ${MANAGERS[search.managed_by]}`)] : []),
  ];
  const choices: MenuEntry[] = [
    { heading: 'Type' },
    ...KEY_TYPE_NAMES.map((type) => ({
      label: TYPES[type].label,
      checked: search.type === type,
      onSelect: () => void setSearch({ type }),
    })),
    'separator',
    { heading: 'Mode' },
    ...(['cloud-only', 'bundled'] as const).map((mode) => ({
      label: MODES[mode],
      checked: search.mode === mode,
      onSelect: () => void setSearch({ mode }),
    })),
    'separator',
    { heading: 'Managed by' },
    ...(['tenant', 'vault', 'service'] as const).map((managed_by) => ({
      label: MANAGERS[managed_by],
      checked: search.managed_by === managed_by,
      onSelect: () => void setSearch({ managed_by }),
    })),
  ];
  const newKey = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('new')}>
      New key
    </Button>
  );
  const filtered = filters.length > 0 || words !== '';
  return (
    <Page>
      <PageHeader
        title="Crypto keys"
        description="Keys that encrypt and sign for your applications. They never leave the service."
        usage={limit}
        actions={newKey}
      />
      {!(rows?.length === 0 && !filtered) && (
        <FilterBar
          query={search.q}
          onQuery={(q) => void setSearch({ q: q || null })}
          placeholder="Filter by name"
          filters={filters}
          choices={choices}
          onClear={clear}
        />
      )}
      {list.isError ? (
        <QueryError query={list} what="Crypto keys" />
      ) : rows?.length === 0 && filtered ? (
        <NoResults
          noun="keys"
          filters={[...(words ? [`name contains “${search.q}”`] : []), ...filters.map(({ text }) => text)]}
          onClear={clear}
        />
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          caption="Crypto keys"
          rowHref={(row) => path(`/crypto/${row.id}`)}
          empty={
            <EmptyState
              icon={<KeySquare />}
              title="No crypto keys yet"
              action={newKey}
              command={[
                {
                  id: 'curl',
                  label: 'cURL',
                  language: 'bash',
                  code: `curl ${api_url}/crypto/keys \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"orders","key_type":"aes256-gcm"}'`,
                },
              ]}
            >
              Create a key, then encrypt or sign with one call. Your applications never hold it.
            </EmptyState>
          }
        />
      )}
      <CreateKeySheet
        open={form.id === 'new' && !readOnly}
        onClose={form.close}
        onCreated={(id) => router.replace(path(`/crypto/${id}`))}
      />
    </Page>
  );
}
