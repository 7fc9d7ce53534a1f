'use client';

import { useQuery } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';

/** Whom a policy denied what, latest first. */
export function PolicyDenials({ id }: { id: string }) {
  const trpc = useTRPC();
  const { slug } = useScope();
  const query = useQuery(trpc.policies.denials.queryOptions({ id }));
  const rows = query.data?.data;
  return (
    <section aria-label="Denied calls" className="flex flex-col gap-2 rounded-lg border border-line-strong p-3">
      <h3 className="font-medium text-sm">Denied calls</h3>
      {query.isError ? (
        <QueryError query={query} what="Denied calls" />
      ) : !rows ? (
        <Skeleton lines={2} label="Loading denied calls" />
      ) : rows.length === 0 ? (
        <p className="text-ink-3 text-xs">It hasn’t denied a call yet.</p>
      ) : (
        <ul className="flex flex-col gap-1.5 text-sm">
          {rows.slice(0, 10).map((row) => (
            <li
              key={`${row.actor_type} ${row.actor_id} ${row.capability} ${row.space}`}
              className="flex flex-wrap items-baseline gap-x-1.5"
            >
              <span className="font-medium">{row.actor}</span>
              <code className="font-mono text-ink-2 text-xs">{row.capability}</code>
              <span className="text-ink-3 text-xs">
                {counted(row.calls, 'call')} in {capitalize(row.space)}, <Time value={row.last_at} />
                {row.capability === 'proxy:invoke' && row.last_request_id && (
                  <>
                    {' · '}
                    <Link href={`/${slug}/${row.space}/logs?peek=${row.last_request_id}`} className={textLink}>
                      Last request
                    </Link>
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
