'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Download, UserPlus } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { useDownload } from '#components/trpc/download.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Avatar } from '#components/ui/avatar.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { DataTable } from '#components/ui/data-table.tsx';
import { NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { MEMBER_ROLES, type MemberRole } from '#server/domain/roles/matrix.shared.ts';
import { Invitations } from './invitations.tsx';
import { memberListInput, memberSearch } from './list-search.ts';
import { type MemberRow, nameOf, sourceOf, unmanageable } from './member-labels.ts';
import { RequireFactor } from './require-factor.tsx';
import { RoleExplainer } from './role-explainer.tsx';

const InviteSheet = lazyOverlay(() => import('./invite-sheet.tsx').then((module) => module.InviteSheet), whenOpen);
const MemberSheet = lazyOverlay(
  () => import('./member-sheet.tsx').then((module) => module.MemberSheet),
  ({ id }) => id !== null,
);
const RemoveMember = lazyOverlay(() => import('./remove-member.tsx').then((module) => module.RemoveMember), whenOpen);
const SignOutMember = lazyOverlay(() => import('./member-dialogs.tsx').then((module) => module.SignOutMember), whenOpen);
const TransferOwnership = lazyOverlay(() => import('./member-dialogs.tsx').then((module) => module.TransferOwnership), whenOpen);

const column = columnsFor<MemberRow & { you: boolean }>();
const columns = [
  column.accessor('full_name', {
    id: 'name',
    header: 'Name',
    enableSorting: true,
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 items-center gap-2.5">
        <Avatar name={nameOf(original)} picture={original.avatar} round className="size-7" />
        <span className="min-w-0">
          <span className="flex items-center gap-2">
            <span className="truncate">{nameOf(original)}</span>
            {original.you && <Badge>You</Badge>}
          </span>
          {original.full_name && <span className="block truncate font-normal text-ink-3 text-xs">{original.email}</span>}
          {/* A phone has no room for the column of roles. */}
          <span className="block truncate font-normal text-xs sm:hidden">
            {capitalize(original.role)}
            {original.reveal_secrets && ', reveals secrets'}
          </span>
        </span>
      </span>
    ),
  }),
  column.accessor('role', {
    header: 'Role',
    enableSorting: true,
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {capitalize(original.role)}
        {original.reveal_secrets && <Badge tone="warn">Reveals secrets</Badge>}
      </span>
    ),
  }),
  column.accessor('second_factor', {
    header: 'Second factor',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => {
      const enrolled = getValue();
      if (enrolled === null) return <span className="text-ink-3">—</span>;
      return <Status state={enrolled ? 'ok' : 'warning'}>{enrolled ? 'On' : 'Off'}</Status>;
    },
  }),
  column.accessor('last_active_at', {
    header: 'Last active',
    enableSorting: true,
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
  column.accessor('source', {
    header: 'Joined by',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original } }) => (
      <span>
        {original.source === 'scim' ? <Badge>Directory</Badge> : sourceOf(original.source)}
        {original.added_by && <span className="block text-ink-3 text-xs">from {original.added_by}</span>}
      </span>
    ),
  }),
  column.accessor('joined_at', {
    header: 'Joined',
    enableSorting: true,
    meta: { hideBelow: 'xl' },
    cell: ({ getValue }) => <Time value={getValue()} format="date" />,
  }),
];

/** Who is in the workspace, who is invited, and what each role may do. */
export function TeamView() {
  const trpc = useTRPC();
  const { person, role } = useScope();
  const own = role as MemberRole;
  const [search, setSearch] = useQueryStates(memberSearch);
  const list = useQuery({ ...trpc.team.list.queryOptions(memberListInput(search)), placeholderData: keepPreviousData });
  const usage = useLimit('members', 'seats');
  const cannotInvite = useForbidden('member:invite');
  const cannotExport = useForbidden('member:update');
  const cannotTransfer = useForbidden('tenant:transfer');
  const inviting = usePanel('invite');
  const peek = usePanel('peek');
  const { busy, save } = useDownload();
  const [removing, setRemoving] = useState<MemberRow>();
  const [signingOut, setSigningOut] = useState<MemberRow>();
  const [heir, setHeir] = useState<MemberRow>();
  return (
    <Page>
      <PageHeader
        title="Team"
        description="People in this workspace, and what they can do. Members belong to both Live and Test."
        usage={usage}
        actions={
          <>
            <Button icon={<Download />} loading={busy} disabledReason={cannotExport} onClick={() => void save('/admin/members/export')}>
              Export
            </Button>
            <Button variant="primary" icon={<UserPlus />} disabledReason={cannotInvite} onClick={() => inviting.open('true')}>
              Invite
            </Button>
          </>
        }
      />
      <FilterBar
        query={search.q}
        onQuery={(q) => void setSearch({ q, page: 1 })}
        placeholder="Filter by name or email…"
        filters={
          search.role
            ? [
                {
                  id: 'role',
                  label: capitalize(search.role),
                  text: `role ${search.role}`,
                  onRemove: () => void setSearch({ role: null, page: 1 }),
                },
              ]
            : []
        }
        choices={MEMBER_ROLES.map((one) => ({
          label: capitalize(one),
          checked: search.role === one,
          onSelect: () => void setSearch({ role: one, page: 1 }),
        }))}
        onClear={() => void setSearch({ q: null, role: null, page: 1 })}
      />
      {list.isError ? (
        <QueryError query={list} what="Members" />
      ) : (
        <DataTable
          columns={columns}
          rows={list.data?.data.map((row) => ({ ...row, you: row.id === person }))}
          rowId={(row) => row.id}
          rowName={nameOf}
          caption="Members"
          onOpen={(row) => peek.open(row.id)}
          openId={peek.id ?? undefined}
          sort={{ sort: search.sort, order: search.order }}
          onSort={({ sort, order }) => void setSearch({ sort: sort as typeof search.sort, order, page: 1 })}
          refreshing={list.isPlaceholderData}
          actions={(row) => [
            { label: row.you ? 'Details' : 'Change role…', onSelect: () => peek.open(row.id) },
            ...(row.you
              ? []
              : [
                  {
                    label: 'Transfer ownership…',
                    disabledReason: cannotTransfer,
                    onSelect: () => setHeir(row),
                  },
                  {
                    label: 'Sign out…',
                    disabledReason: unmanageable(own, person, row),
                    onSelect: () => setSigningOut(row),
                  },
                ]),
            'separator',
            {
              label: row.you ? 'Leave workspace…' : 'Remove…',
              danger: true,
              disabledReason: row.you ? undefined : unmanageable(own, person, row),
              onSelect: () => setRemoving(row),
            },
          ]}
          empty={
            <NoResults
              noun="members"
              filters={[...(search.q ? [search.q] : []), ...(search.role ? [capitalize(search.role)] : [])]}
              onClear={() => void setSearch({ q: null, role: null, page: 1 })}
            />
          }
        />
      )}
      <Pagination
        noun="members"
        meta={list.data?.meta}
        onPage={(page) => void setSearch({ page })}
        onPerPage={(per_page) => void setSearch({ per_page, page: 1 })}
      />
      {!cannotInvite && <Invitations />}
      <RequireFactor />
      <SectionCard title="Roles" description="Each member has one role. A change applies at their next request.">
        <RoleExplainer />
      </SectionCard>
      <InviteSheet open={inviting.id !== null && !cannotInvite} onClose={inviting.close} />
      <MemberSheet id={peek.id} onClose={peek.close} />
      {removing && <RemoveMember member={removing} open onClose={() => setRemoving(undefined)} />}
      {signingOut && <SignOutMember member={signingOut} open onClose={() => setSigningOut(undefined)} />}
      {heir && <TransferOwnership member={heir} open onClose={() => setHeir(undefined)} />}
    </Page>
  );
}
