'use client';

import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { qualified } from './grant-cell.tsx';
import { grantOf, type RoleColumn, resourcesOf } from './permissions.ts';

/** What a set of rights allows, one line per resource, and which resources it doesn't reach. */
export function PermissionSummary({ grants }: { grants: RoleColumn['grants'] }) {
  const operations = useListedOperations();
  if (operations.error && !operations.data) return <QueryError query={operations} what="Permissions" />;
  if (!operations.data) return <Skeleton lines={8} label="Loading permissions" />;
  const held = resourcesOf(operations.data).map(({ title, permissions }) => ({
    title,
    labels: permissions.flatMap((permission) => {
      const grant = grantOf(permission, grants);
      return grant === 'no' ? [] : [qualified(permission.label, grant)];
    }),
  }));
  const rest = held.filter(({ labels }) => labels.length === 0).map(({ title }) => title);
  return (
    <dl className="grid grid-cols-[minmax(0,8rem)_minmax(0,1fr)] gap-x-3 gap-y-1 text-xs">
      {held.map(
        ({ title, labels }) =>
          labels.length > 0 && (
            <div key={title} className="contents">
              <dt className="font-medium">{title}</dt>
              <dd className="text-ink-2">{labels.join(', ')}</dd>
            </div>
          ),
      )}
      {rest.length > 0 && (
        <div className="contents">
          <dt className="font-medium">No access</dt>
          <dd className="text-ink-2">{rest.join(', ')}</dd>
        </div>
      )}
    </dl>
  );
}
