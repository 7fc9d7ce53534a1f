'use client';

import { useQuery } from '@tanstack/react-query';
import { CalendarClock, ChevronRight, Gauge, KeyRound, type LucideIcon, RotateCw, Waypoints } from 'lucide-react';
import type { ReactNode } from 'react';
import { healthOf } from '#components/secrets/value-state.ts';
import { LIMIT_WORDS } from '#components/settings/plan-labels.ts';
import { usePlan } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Time } from '#components/ui/time.tsx';
import { failingRoutes, fullLimits, type TopRoute } from './attention.ts';

type Item = { key: string; icon: LucideIcon; href: string; text: ReactNode };
const DAYS_AHEAD = 30;
const SHOWN = 8;

/** What will break or has broken, each one press from where it is mended. Absent when there is nothing. */
export function NeedsAttention({ routes, hrefOf }: { routes: readonly TopRoute[]; hrefOf: (filters: Record<string, string>) => string }) {
  const trpc = useTRPC();
  const path = usePath();
  const { slug } = useScope();
  const plan = usePlan();
  const secrets = useQuery(trpc.secrets.list.queryOptions({ expiring_within_days: DAYS_AHEAD, per_page: SHOWN }));
  const keys = useQuery(trpc.apiKeys.list.queryOptions({ active: true, key_type: 'access_key', per_page: 100 }));
  const now = Date.now();
  const items: Item[] = [
    ...failingRoutes(routes).map((route) => ({
      key: `route ${route.route_id}`,
      icon: Waypoints,
      href: hrefOf({ route_id: route.route_id ?? '', outcome: 'failed' }),
      text: (
        <>
          <b className="font-medium">{route.name}</b> is failing: {grouped(route.errors)} of {grouped(route.count)} calls
        </>
      ),
    })),
    ...(secrets.data?.data ?? []).map((secret) => {
      const { health, ends_at } = healthOf(secret, now);
      return {
        key: `secret ${secret.id}`,
        icon: CalendarClock,
        href: path(`/secrets/${secret.id}`),
        text: (
          <>
            Secret <b className="font-mono font-medium text-xs">{secret.name}</b> {health === 'expired' ? 'expired' : 'expires'}{' '}
            <Time value={ends_at ?? secret.expires_at} />
            {health === 'expired' && secret.strict_expiry_enforcement && '. Calls that need it are refused.'}
          </>
        ),
      };
    }),
    ...(keys.data?.data ?? [])
      .filter((key) => key.expires_at !== null && Date.parse(key.expires_at) - now < 14 * 86_400_000)
      .map((key) => ({
        key: `key ${key.id}`,
        icon: KeyRound,
        href: path(`/api-keys?peek=${key.id}`),
        text: (
          <>
            Key <b className="font-medium">{key.name}</b> expires <Time value={key.expires_at} />
          </>
        ),
      })),
    ...fullLimits(plan.data?.limits ?? []).map(({ key, used, limit }) => ({
      key: `limit ${key}`,
      icon: Gauge,
      href: `/${slug}/settings/usage`,
      text: (
        <>
          {LIMIT_WORDS[key] ?? key}: {grouped(used)} of {grouped(limit)} {used >= limit ? 'used, limit reached' : 'used'}
        </>
      ),
    })),
  ];
  if (items.length === 0) return null;
  const more = (secrets.data?.meta.total ?? 0) - (secrets.data?.data.length ?? 0);
  return (
    <SectionCard title="Needs attention" className="border-warn-line">
      <ul className="flex flex-col">
        {items.slice(0, SHOWN).map(({ key, icon: Icon, href, text }) => (
          <li key={key}>
            <Link href={href} className="-mx-2 flex min-h-8 items-center gap-2.5 rounded-sm px-2 py-1 hover:bg-subtle">
              <Icon aria-hidden className="size-4 shrink-0 text-warn-ink" />
              <span className="min-w-0 flex-1">{text}</span>
              <ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-3" />
            </Link>
          </li>
        ))}
        {(more > 0 || items.length > SHOWN) && (
          <li>
            <Link
              href={path(`/secrets?expiring=${DAYS_AHEAD}`)}
              className="-mx-2 flex min-h-8 items-center gap-2.5 rounded-sm px-2 hover:bg-subtle"
            >
              <RotateCw aria-hidden className="size-4 shrink-0 text-ink-3" />
              All secrets expiring within {DAYS_AHEAD} days
            </Link>
          </li>
        )}
      </ul>
    </SectionCard>
  );
}
