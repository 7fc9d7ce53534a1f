'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { usePath, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { LoadMore } from '#components/ui/pagination.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';

export type ActivityProps = { resourceId?: string; limit?: number /** Without the way to older entries. */; brief?: boolean };

/** Who changed what, newest first, from the audit log. */
export function Activity({ resourceId, limit = 50, brief }: ActivityProps) {
  const trpc = useTRPC();
  const path = usePath();
  const client = useTRPCClient();
  const input = { limit, ...(resourceId ? { resource_id: resourceId } : {}) };
  const entries = useInfiniteQuery({
    queryKey: [...trpc.auditLogs.browse.queryKey(input), 'pages'],
    queryFn: ({ pageParam, signal }) =>
      client.auditLogs.browse.query({ ...input, ...(pageParam ? { before: pageParam } : {}) }, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next ?? undefined,
  });
  if (entries.error) return <QueryError query={entries} what="The activity" />;
  if (!entries.data) return <Skeleton lines={4} label="Loading activity" />;
  const rows = entries.data.pages.flatMap((page) => page.entries);
  if (rows.length === 0) return <p className="text-ink-3">Nothing was changed yet.</p>;
  return (
    <>
      <ol className="flex flex-col">
        {rows.map((entry) => (
          <li key={entry.id} className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5 border-line border-b py-2 last:border-b-0">
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              <span className="font-medium">{entry.actor.label ?? 'Sallyport'}</span>{' '}
              <span className="text-ink-2">{inWords(entry.action)}</span>{' '}
              <Link href={path(`/audit?peek=${entry.id}`)} className={textLink}>
                {nameOf(entry.resource_type, entry.details)}
              </Link>
              <Changed details={entry.details} />
            </span>
            <Time value={entry.created_at} className="text-ink-3 text-xs" />
          </li>
        ))}
      </ol>
      {!brief && (
        <LoadMore
          hasMore={entries.hasNextPage}
          loading={entries.isFetchingNextPage}
          onMore={() => void entries.fetchNextPage()}
          endNote="That is everything the audit log keeps."
        />
      )}
    </>
  );
}

function Changed({ details }: { details: Record<string, unknown> }) {
  const changed = details.changed;
  if (!Array.isArray(changed) || changed.length === 0) return null;
  return <span className="text-ink-3"> · {changed.map(String).join(', ')}</span>;
}

const verbs: Record<string, string> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  enable: 'switched on',
  disable: 'switched off',
  revoke: 'revoked',
  rotate: 'rotated',
};
const inWords = (action: string) => verbs[action] ?? action.replaceAll(/[._]/g, ' ');

function nameOf(type: string, details: Record<string, unknown>): string {
  const name = typeof details.name === 'string' ? details.name : '';
  const kind =
    type === 'environment_config'
      ? `${typeof details.environment === 'string' ? details.environment : 'an environment'} of route`
      : type.replaceAll('_', ' ');
  return `${kind}${name ? ` ${name}` : ''}`;
}
