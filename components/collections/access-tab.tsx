'use client';

import { useQuery } from '@tanstack/react-query';
import { DoorClosed, DoorOpen } from 'lucide-react';
import type { ReactNode } from 'react';
import { useEnvironments } from '#components/secrets/use-environments.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { cn } from '#components/ui/cn.ts';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { type Access, describeAccess, type Entrance, keyMay, roleMay } from './access-text.ts';
import { OwnersCard } from './owners-card.tsx';

/** Who can reach what in the collection: callers by the rules of its routes, keys and people by their roles. */
export function AccessTab({ collectionId }: { collectionId: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const access = useQuery(trpc.collections.access.queryOptions({ id: collectionId }));
  if (access.error && !access.data) return <QueryError query={access} what="Access" />;
  if (!access.data) return <Skeleton lines={8} label="Loading access" />;
  const { routes, route_count, keys, key_count, key_count_calling, key_always_needed, people } = access.data;
  return (
    <div className="flex flex-col gap-5">
      <OwnersCard collectionId={collectionId} />
      <SectionCard flush title="Callers" description="Access is set per route and environment, not per collection.">
        {routes.length === 0 ? (
          <p className="p-4 text-ink-3">This collection has no routes.</p>
        ) : (
          <Rows>
            {routes.map((route) => (
              <RouteEntrances key={route.id} route={route} strict={key_always_needed} />
            ))}
          </Rows>
        )}
        <More shown={routes.length} of={route_count} noun="routes" />
      </SectionCard>
      <SectionCard
        flush
        title="Keys"
        description={
          <>
            {grouped(key_count_calling)} of {grouped(key_count)} active keys in this space can call routes. The rules above decide which
            routes a key reaches.
          </>
        }
      >
        <Rows>
          {keys.map((key) => (
            <Row
              key={key.id}
              name={
                <>
                  <Link href={path(`/api-keys?peek=${key.id}`)} className={textLink}>
                    {key.name}
                  </Link>
                  <span className="font-mono text-ink-3 text-xs">{key.key_prefix}</span>
                </>
              }
            >
              {keyMay(key)}
              {key.addresses.length > 0 && `, only from ${key.addresses.join(', ')}`}.
            </Row>
          ))}
        </Rows>
        {keys.length === 0 && <p className="p-4 text-ink-3">This space has no active keys.</p>}
        <More shown={keys.length} of={key_count} noun="keys" />
      </SectionCard>
      <SectionCard flush title="People" description="Based on workspace roles, the same in every collection.">
        <Rows>
          {people.map((held) => (
            <Row
              key={held.role}
              name={
                <>
                  <span className="font-medium capitalize">{held.role}</span>
                  <span className="text-ink-3 text-xs">
                    {held.names.join(', ')}
                    {held.count > held.names.length && ` and ${grouped(held.count - held.names.length)} more`}
                  </span>
                </>
              }
            >
              {roleMay(held)}
            </Row>
          ))}
        </Rows>
        {people.length === 0 && <p className="p-4 text-ink-3">This workspace has no members.</p>}
      </SectionCard>
    </div>
  );
}

function RouteEntrances({ route, strict }: { route: Access['routes'][number]; strict: boolean }) {
  const path = usePath();
  return (
    <Row
      name={
        <Link href={path(`/routes/${route.id}?tab=access`)} className={textLink}>
          {route.name}
        </Link>
      }
    >
      <ul className="flex flex-col gap-2">
        {route.entrances.map((entrance) => (
          <Door key={entrance.environment} entrance={entrance} strict={strict} />
        ))}
      </ul>
    </Row>
  );
}

function Door({ entrance, strict }: { entrance: Entrance; strict: boolean }) {
  const path = usePath();
  const color = useEnvironments()?.find(({ name }) => name === entrance.environment)?.color ?? '';
  const { nobody, text } = describeAccess(entrance, strict);
  const Sign = nobody ? DoorClosed : DoorOpen;
  const rest = entrance.client_count - entrance.clients.length;
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-0.5 sm:grid-cols-[8.5rem_minmax(0,1fr)]">
      <span className="min-w-0 truncate">
        <EnvironmentDot name={entrance.environment} color={color} />
      </span>
      <span className={cn('flex items-start gap-1.5', nobody && 'text-ink-3')}>
        <Sign aria-hidden className="mt-0.5 size-3.5 shrink-0" />
        <span className="min-w-0">
          {text}
          {entrance.requires_clients && entrance.clients.length > 0 && (
            <span className="mt-1 flex flex-wrap gap-x-3 gap-y-1">
              {entrance.clients.map((client) => (
                <span key={client.id} className="inline-flex items-center gap-1.5">
                  <Link href={path(`/clients/${client.id}`)} className={textLink}>
                    {client.name}
                  </Link>
                  {!client.may_call && <Badge>Can’t call</Badge>}
                </span>
              ))}
              {rest > 0 && <span>and {grouped(rest)} more</span>}
            </span>
          )}
        </span>
      </span>
    </li>
  );
}

const Rows = ({ children }: { children: ReactNode }) => <ul className="divide-y divide-line">{children}</ul>;

const Row = ({ name, children }: { name: ReactNode; children: ReactNode }) => (
  <li className="grid grid-cols-[minmax(0,1fr)] gap-x-6 gap-y-1.5 px-4 py-3 md:grid-cols-[minmax(0,16rem)_minmax(0,1fr)]">
    <span className="flex min-w-0 flex-col items-start gap-0.5 [overflow-wrap:anywhere]">{name}</span>
    <div className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">{children}</div>
  </li>
);

/** A list that was cut says so, and does not look whole. */
const More = ({ shown, of, noun }: { shown: number; of: number; noun: string }) =>
  of > shown ? (
    <p className="border-line border-t px-4 py-2.5 text-ink-3">
      Showing the first {grouped(shown)} of {grouped(of)} {noun}.
    </p>
  ) : null;
