'use client';

import { useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { Waypoints } from 'lucide-react';
import { useState } from 'react';
import { useEnvironments } from '#components/secrets/use-environments.ts';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { Link } from '#components/ui/link.tsx';
import { Scroll } from '#components/ui/scroll.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { Detail } from './client-labels.ts';

const SHOWN = 100;

/** Route against environment: where this client may call. A box exists where the route is configured for the environment. */
export function AssignmentMatrix({ client }: { client: Detail }) {
  const trpc = useTRPC();
  const path = usePath();
  const readOnly = useForbidden('client:update');
  const [q, setQ] = useState('');
  const environments = useEnvironments();
  const input = { per_page: SHOWN, sort: 'name' as const, order: 'asc' as const, ...(q ? { q } : {}) };
  const routes = useQuery(trpc.routes.list.queryOptions(input));
  const served = useQueries({
    queries: (environments ?? []).map(({ name }) => trpc.routes.list.queryOptions({ ...input, environment: name })),
  });
  const change = useAssignment(client);

  if (routes.isError) return <QueryError query={routes} what="Routes" />;
  const rows = routes.data?.data;
  if (!rows || !environments || served.some((one) => one.isLoading)) return <Skeleton lines={6} label="Loading routes" />;
  if (rows.length === 0 && q === '')
    return (
      <EmptyState
        icon={<Waypoints />}
        title="No routes yet"
        action={
          <LinkButton variant="primary" href={path('/routes')}>
            View routes
          </LinkButton>
        }
      >
        Create a route, then assign this client to it.
      </EmptyState>
    );
  const serves = (routeId: string, index: number) => served[index]?.data?.data.some((route) => route.id === routeId) ?? false;
  const held = (routeId: string, environment: string) =>
    client.route_assignments.some((one) => one.route_id === routeId && one.environment_name === environment);
  return (
    <>
      <FilterBar query={q} onQuery={setQ} placeholder="Filter routes" />
      <Scroll
        as="section"
        aria-label="Routes by environment"
        className="relative overflow-x-auto rounded-lg border border-line-strong bg-surface"
      >
        <table className="w-full border-separate border-spacing-0">
          <caption className="sr-only">Routes assigned to {client.name}</caption>
          <thead>
            <tr>
              <th scope="col" className={`${head} sticky left-0 z-10`}>
                Route
              </th>
              {environments.map((environment) => (
                <th key={environment.id} scope="col" className={head}>
                  <EnvironmentDot name={environment.display_name} color={environment.color} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((route) => (
              <tr key={route.id} className="group/row">
                <th scope="row" className={`${cell} sticky left-0 z-10 bg-surface text-left font-medium`}>
                  <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5 py-1.5">
                    <Link
                      href={path(`/routes/${route.id}?tab=access`)}
                      title={route.name}
                      className="block max-w-[min(18rem,40vw)] truncate rounded-xs py-0.5 hover:underline"
                    >
                      {route.name}
                    </Link>
                    {!route.requires_clients && (
                      <Badge tone="warn" title="The route doesn’t require a client, so any API key can call it">
                        Open: ignores assignments
                      </Badge>
                    )}
                  </span>
                </th>
                {environments.map((environment, index) => (
                  <td key={environment.id} className={cell}>
                    {serves(route.id, index) ? (
                      <Checkbox
                        hideLabel
                        label={`Assign ${client.name} to ${route.name} in ${environment.display_name}`}
                        checked={held(route.id, environment.name)}
                        disabled={readOnly !== undefined}
                        onCheckedChange={(on) =>
                          change(on, { route_id: route.id, route_name: route.name, environment_name: environment.name })
                        }
                      />
                    ) : (
                      <span className="whitespace-nowrap text-ink-3 text-xs">Not configured</span>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {(routes.data?.meta.total ?? 0) > SHOWN && (
        <p className="text-ink-3 text-xs">Showing the first {SHOWN} routes. Filter to find others.</p>
      )}
    </>
  );
}

type Pair = Detail['route_assignments'][number];

/** Assigns or takes away, at once on the page; the server's list replaces it when it answers, or the old one when it refuses. */
function useAssignment(client: Detail): (on: boolean, pair: Pair) => void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const key = trpc.clients.get.queryKey({ id: client.id });
  const show = (pairs: Pair[]) =>
    queryClient.setQueryData(
      key,
      (before) => before && { ...before, route_assignments: pairs, assigned_route_count: new Set(pairs.map((pair) => pair.route_id)).size },
    );
  const handlers = {
    onSuccess: ({ route_assignments }: { route_assignments: Pair[] }) => {
      show(route_assignments);
      void queryClient.invalidateQueries(trpc.clients.list.pathFilter());
      void queryClient.invalidateQueries(trpc.routes.pathFilter());
    },
    onError: (error: unknown) => {
      notifyRefused(error);
      void queryClient.invalidateQueries(trpc.clients.get.pathFilter());
    },
  };
  const assign = useMutation(trpc.clients.assign.mutationOptions(handlers));
  const unassign = useMutation(trpc.clients.unassign.mutationOptions(handlers));
  return (on, pair) => {
    const rest = client.route_assignments.filter((one) => one.route_id !== pair.route_id || one.environment_name !== pair.environment_name);
    show(on ? [...rest, pair] : rest);
    const { route_id, environment_name } = pair;
    (on ? assign : unassign).mutate({ id: client.id, assignments: [{ route_id, environment_name }] });
  };
}

const head = 'h-8 whitespace-nowrap border-line-strong border-b bg-subtle px-3 text-left font-medium text-ink-3 text-xs';
const cell = 'h-(--row-height) border-line border-b px-3 group-last/row:border-b-0';
