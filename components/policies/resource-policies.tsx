'use client';

import { useQuery } from '@tanstack/react-query';
import { ShieldBan } from 'lucide-react';
import { ForbiddenNote } from '#components/roles/forbidden-note.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { coversResource } from '#server/domain/policies/rules.shared.ts';
import { type Capability, MEMBER_ROLES, ROLE_MATRIX } from '#server/domain/roles/matrix.shared.ts';
import { policyInWords } from './policy-words.ts';
import { useCandidates } from './use-candidates.ts';

/** Something that can be done with a resource, and what it takes. */
export type ResourceAct = { label: string; capability: Capability };

type Act = ResourceAct & { roles: string; reveal: boolean };
const act = columnsFor<Act>();
const actColumns = [
  act.accessor('label', {
    header: 'Action',
    cell: ({ row: { original } }) => (
      <span className="inline-flex flex-wrap items-center gap-2">
        {original.label}
        {original.reveal && <Badge tone="accent">With verification</Badge>}
      </span>
    ),
  }),
  act.accessor('roles', { header: 'Roles', cell: ({ getValue }) => <span className="text-ink-2">{getValue()}</span> }),
  act.accessor('capability', {
    header: 'Scope of keys and tokens',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="font-mono text-ink-2 text-xs">{getValue()}</span>,
  }),
];

/** Roles in the order of the matrix; reveals are done by people after a verification, never by their tokens. */
function actOf({ label, capability }: ResourceAct): Act {
  const cells = MEMBER_ROLES.map((role) => ({ role, cell: ROLE_MATRIX.get(capability)?.[role] ?? '-' }));
  const held = cells.filter(({ cell }) => cell !== '-');
  const names = held.map(({ role, cell }) => (cell === 't' ? `${capitalize(role)} with “Reveal secrets”` : capitalize(role)));
  return { label, capability, roles: names.join(', ') || 'Nobody', reveal: held.some(({ cell }) => cell === 'B' || cell === 't') };
}

type Denial = { id: string; name: string; words: string; enabled: boolean };
const denial = columnsFor<Denial>();
const denialColumns = [
  denial.accessor('name', {
    header: 'Policy',
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col gap-0.5 py-1">
        <span className="truncate font-medium">{original.name}</span>
        <span className="whitespace-normal text-ink-2 text-xs">{original.words}</span>
      </span>
    ),
  }),
  denial.accessor('enabled', {
    header: 'Status',
    meta: { width: '6rem' },
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'On' : 'Off'}</Status>,
  }),
];

type Props = {
  /** What it is called within a sentence: `vault`. */
  noun: string;
  resource: { id: string; name: string };
  acts: readonly ResourceAct[];
  /** The part of a capability before the colon that policies about it name. */
  prefix: string;
  /** What a policy could do here, for whoever has none yet. */
  idea: string;
};

/** Who may do what with one resource: by role, and the policies that take something away. */
export function ResourcePolicies(props: Props) {
  const { slug } = useScope();
  return (
    <>
      <SectionCard
        flush
        title="By role"
        description="What people may do. API keys and OAuth clients do what their scopes name."
        actions={
          <LinkButton size="sm" href={`/${slug}/settings/roles`}>
            View roles
          </LinkButton>
        }
      >
        <DataTable
          columns={actColumns}
          rows={props.acts.map(actOf)}
          rowId={(row) => row.capability}
          rowName={(row) => row.label}
          caption="Actions by role"
        />
      </SectionCard>
      <Denials {...props} />
    </>
  );
}

function Denials({ noun, resource, prefix, idea }: Props) {
  const trpc = useTRPC();
  const { slug, space } = useScope();
  const forbidden = useForbidden('policy:list');
  const policies = useQuery(trpc.policies.list.queryOptions({}, { enabled: !forbidden }));
  const { named } = useCandidates(!forbidden);
  const rows = policies.data?.data
    .filter(
      (policy) =>
        (policy.space === 'both' || policy.space === space) &&
        policy.actions.some((action) => action.startsWith(`${prefix}:`)) &&
        coversResource({ resources: policy.resources ?? [] }, { id: resource.id, names: [resource.name] }),
    )
    .map((policy) => ({ id: policy.id, name: policy.name, enabled: policy.enabled, words: policyInWords(policy, named) }));
  if (forbidden) return <ForbiddenNote capability="policy:list" what="policies" />;
  if (policies.isError) return <QueryError query={policies} what="Policies" />;
  const all = (
    <LinkButton size="sm" href={`/${slug}/settings/policies`}>
      Manage policies
    </LinkButton>
  );
  if (rows?.length === 0)
    return (
      <EmptyState icon={<ShieldBan />} title={`No policy restricts this ${noun}`} action={all}>
        {idea}
      </EmptyState>
    );
  return (
    <SectionCard flush title="Policies" description={`Rules that take permissions for this ${noun} away.`} actions={all}>
      <DataTable
        columns={denialColumns}
        rows={rows}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        caption={`Policies for this ${noun}`}
        rowHref={(row) => `/${slug}/settings/policies?edit=${row.id}`}
        skeletonRows={2}
      />
    </SectionCard>
  );
}
