'use client';

import { parseAsString, useQueryState } from 'nuqs';
import { useState } from 'react';
import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { PermissionMatrix, rowKey } from './permission-matrix.tsx';
import { KEY_ROLE_COLUMNS, MEMBER_ROLE_COLUMNS, resourcesOf } from './permissions.ts';

const KINDS = [
  {
    title: 'People',
    caption: 'Permissions of each member role',
    hint: 'Each person has one role per workspace. “If granted reveals” takes Reveal secrets on the membership. “After verification” asks for a passkey or a code each time. Policies can deny any of it.',
    roles: MEMBER_ROLE_COLUMNS,
  },
  {
    title: 'API keys',
    caption: 'Permissions of each API key role',
    hint: 'A key can have several roles. Their permissions add up.',
    roles: KEY_ROLE_COLUMNS,
  },
] as const;

/** What each role allows, from the tables that authorize every call. */
export function RolesView() {
  const { role: mine } = useScope();
  const operations = useListedOperations();
  const [asked, choose] = useQueryState('role', parseAsString.withDefault(mine));
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const kind = KINDS.find(({ roles }) => roles.some(({ id }) => id === asked)) ?? KINDS[0];
  const chosen = kind.roles.some(({ id }) => id === asked) ? asked : mine;
  const resources = operations.data && resourcesOf(operations.data);
  const rows = resources?.flatMap((resource) => resource.permissions.map((permission) => rowKey(resource, permission))) ?? [];
  const toggle = (row: string) => {
    const next = new Set(open);
    if (!next.delete(row)) next.add(row);
    setOpen(next);
  };
  return (
    <Page className="max-w-6xl">
      <PageHeader title="Roles" description="What each role lets a person or an API key do.">
        <TabLinks
          label="Kinds of roles"
          tabs={KINDS.map(({ title, roles }) => {
            const first = roles.find(({ id }) => id === mine)?.id ?? roles[0]?.id ?? mine;
            return { href: `?role=${first}`, label: title, active: roles === kind.roles, onSelect: () => void choose(first) };
          })}
        />
      </PageHeader>
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-2 lg:grid-cols-3">
        {kind.roles.map(({ id, name, description }) => (
          <div key={id}>
            <dt className="font-medium">{name}</dt>
            <dd className="text-ink-2 text-xs">{description}</dd>
          </div>
        ))}
      </dl>
      <SectionCard
        title="Permissions"
        description={kind.hint}
        flush
        actions={
          <Button size="sm" onClick={() => setOpen(open.size > 0 ? new Set() : new Set(rows))}>
            {open.size > 0 ? 'Hide operations' : 'Show operations'}
          </Button>
        }
      >
        <div className="p-3 sm:hidden">
          <Select
            label="Role"
            options={kind.roles.map(({ id, name }) => ({ value: id, label: name }))}
            value={chosen}
            onValueChange={(id) => void choose(id)}
          />
        </div>
        {operations.error && !resources ? (
          <div className="p-4">
            <QueryError query={operations} what="Permissions" />
          </div>
        ) : resources ? (
          <PermissionMatrix
            {...{ resources, chosen, mine, open }}
            caption={kind.caption}
            roles={kind.roles}
            onToggle={toggle}
            onChoose={(id) => void choose(id)}
          />
        ) : (
          <div className="p-4">
            <Skeleton lines={12} label="Loading permissions" />
          </div>
        )}
      </SectionCard>
    </Page>
  );
}
