'use client';

import { ChevronRight } from 'lucide-react';
import { Fragment } from 'react';
import { Badge } from '#components/ui/badge.tsx';
import { cn } from '#components/ui/cn.ts';
import { GrantCell } from './grant-cell.tsx';
import { grantOf, type Permission, type Resource, type RoleColumn } from './permissions.ts';

export type PermissionMatrixProps = {
  caption: string;
  resources: readonly Resource[];
  roles: readonly RoleColumn[];
  /** The highlighted column, and the only one on a phone. */
  chosen: string;
  /** The role of the person who looks. */
  mine: string;
  /** Keys of the rows whose operations are shown. */
  open: ReadonlySet<string>;
  onToggle: (row: string) => void;
  onChoose: (role: string) => void;
};

export const rowKey = (resource: Resource, permission: Permission): string => `${resource.title}: ${permission.label}`;

/** Permissions against roles, a few rows per resource; each row opens to the operations behind it. */
export function PermissionMatrix({ caption, resources, roles, chosen, mine, open, onToggle, onChoose }: PermissionMatrixProps) {
  const column = (role: RoleColumn) => cn('px-2 text-center', role.id === chosen ? 'bg-accent-soft/60' : 'max-sm:hidden');
  const cells = (grant: (role: RoleColumn) => ReturnType<RoleColumn['grants']>) =>
    roles.map((role) => (
      <td key={role.id} className={cn(column(role), 'w-28 max-sm:w-24')}>
        <GrantCell grant={grant(role)} />
      </td>
    ));
  return (
    <table className="w-full border-separate border-spacing-0 text-sm">
      <caption className="sr-only">{caption}</caption>
      <thead>
        <tr>
          <th scope="col" className={cn(head, 'px-3 text-left font-medium text-ink-3 text-xs')}>
            Permission
          </th>
          {roles.map((role) => (
            <th key={role.id} scope="col" className={cn(head, column(role), 'bg-surface font-medium')}>
              <button
                type="button"
                aria-pressed={role.id === chosen}
                onClick={() => onChoose(role.id)}
                className="inline-flex min-h-8 flex-wrap items-center justify-center gap-1.5 rounded-md px-1.5"
              >
                {role.name}
                {role.id === mine && <Badge tone="accent">You</Badge>}
              </button>
            </th>
          ))}
        </tr>
      </thead>
      {resources.map((resource) => (
        <tbody key={resource.title}>
          <tr>
            <th scope="rowgroup" className="px-3 pt-4 pb-1 text-left font-semibold">
              {resource.title}
            </th>
            {roles.map((role) => (
              <td key={role.id} className={column(role)} />
            ))}
          </tr>
          {resource.permissions.map((permission) => {
            const key = rowKey(resource, permission);
            const isOpen = open.has(key);
            return (
              <Fragment key={key}>
                <tr className="hover:bg-subtle">
                  <th scope="row" className="px-1 text-left font-normal">
                    <button
                      type="button"
                      aria-expanded={isOpen}
                      onClick={() => onToggle(key)}
                      className="flex min-h-8 w-full items-center gap-1 rounded-md px-2 text-left text-ink-2 hover:text-ink"
                    >
                      <ChevronRight
                        aria-hidden
                        className={cn('size-3.5 shrink-0 text-ink-3 transition-transform', isOpen && 'rotate-90')}
                      />
                      {permission.label}
                    </button>
                  </th>
                  {cells((role) => grantOf(permission, role.grants))}
                </tr>
                {isOpen &&
                  permission.actions.map(({ capability, scope, summaries }) => (
                    <tr key={capability} className="align-top">
                      <th scope="row" className="py-1.5 pr-3 pl-8 text-left font-normal">
                        {summaries.map((summary) => (
                          <span key={summary} className="block text-xs">
                            {summary}
                          </span>
                        ))}
                        <span className="block break-all pt-0.5 font-mono text-2xs text-ink-3">
                          {capability}
                          {scope && ` · scope ${scope}`}
                        </span>
                      </th>
                      {cells((role) => role.grants(capability))}
                    </tr>
                  ))}
              </Fragment>
            );
          })}
        </tbody>
      ))}
    </table>
  );
}

/** Below the bar at the top of every page. */
const head = 'sticky top-13 z-10 h-10 border-line-strong border-b bg-surface';
