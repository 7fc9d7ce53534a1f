'use client';

import { useQueries } from '@tanstack/react-query';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import type { Detail } from './client-labels.ts';

/** Routes listed in the card. */
const SHOWN = 12;

/** The routes a client is assigned to, and which of them ignore it because they accept any API key. */
export function AssignedRoutes({ client }: { client: Detail }) {
  const path = usePath();
  const trpc = useTRPC();
  const label = useEnvironmentLabel();
  const byRoute = [...new Map(client.route_assignments.map((one) => [one.route_id, one.route_name]))];
  const shown = byRoute.slice(0, SHOWN);
  const routes = useQueries({ queries: shown.map(([id]) => trpc.routes.get.queryOptions({ id })) });
  const open = new Set(routes.flatMap(({ data }) => (data && !data.requires_clients ? [data.id] : [])));
  return (
    <SectionCard title="Assigned routes" description={byRoute.length === 0 ? 'Not assigned to any route.' : undefined}>
      {open.size > 0 && (
        <Callout
          tone="warn"
          title={open.size === 1 ? 'One route ignores this assignment' : `${grouped(open.size)} routes ignore this assignment`}
          className="mb-3"
        >
          Open routes accept any API key. To restrict one, require an assigned client under Access.
        </Callout>
      )}
      <ul className="flex flex-col gap-1">
        {shown.map(([id, name]) => (
          <li key={id} className="flex flex-wrap gap-x-2">
            <Link className={textLink} href={path(`/routes/${id}`)}>
              {name}
            </Link>
            <span className="text-ink-3">
              {client.route_assignments
                .filter((one) => one.route_id === id)
                .map((one) => label(one.environment_name))
                .join(', ')}
            </span>
            {open.has(id) && <Badge tone="warn">Open</Badge>}
          </li>
        ))}
        {byRoute.length > SHOWN && (
          <li>
            <Link className={textLink} href="?tab=routes">
              View {byRoute.length - SHOWN} more
            </Link>
          </li>
        )}
      </ul>
    </SectionCard>
  );
}
