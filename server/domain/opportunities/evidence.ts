import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Evidence } from './schema.ts';
import { WINDOW } from './traffic.ts';

/** Calls that make a host worth a suggestion. */
const ENOUGH = { traffic: 10, observed: 5 };
const NAMED = 10;

export type Seen = { host: string; evidence: Evidence };

/** Hosts that calls without a route went to during 30 days. */
export async function seenInTraffic(tx: Tx, ctx: Ctx): Promise<Seen[]> {
  const rows = await tx.opportunity_traffic.findMany({
    where: { ...own(ctx), day: { gt: new Date(ctx.now.getTime() - WINDOW) } },
    orderBy: [{ host: 'asc' }, { day: 'asc' }],
  });
  return [...Map.groupBy(rows, ({ host }) => host)].flatMap(([host, days]) => {
    const calls_30d = days.reduce((sum, { calls }) => sum + Number(calls), 0);
    if (calls_30d < ENOUGH.traffic) return [];
    const modes = added(days.map((day) => day.modes));
    return [
      {
        host,
        evidence: {
          calls_30d,
          days_seen: days.length,
          ...span(days),
          methods: added(days.map((day) => day.methods)),
          path_prefixes: distinct(days.flatMap((day) => day.prefixes)),
          status_classes: added(days.map((day) => day.statuses)),
          credential_modes: { transit: modes.transit ?? 0, escrow: modes.escrow ?? 0, none: modes.none ?? 0, direct_header: [] },
          sdks: [],
          agents: distinct(days.flatMap((day) => day.agents)),
          reporters: 0,
        },
      },
    ];
  });
}

/** Hosts that SDKs saw calls with a credential go to directly. */
export async function seenByMonitors(tx: Tx, ctx: Ctx): Promise<Seen[]> {
  const rows = await tx.egress_observations.findMany({
    where: { ...own(ctx), last_seen: { gt: new Date(ctx.now.getTime() - WINDOW) } },
    orderBy: [{ host: 'asc' }, { total_count: 'desc' }],
  });
  return [...Map.groupBy(rows, ({ host }) => host)].flatMap(([host, keys]) => {
    const calls_30d = Math.min(
      keys.reduce((sum, { total_count }) => sum + Number(total_count), 0),
      Number.MAX_SAFE_INTEGER,
    );
    if (calls_30d < ENOUGH.observed) return [];
    return [
      {
        host,
        evidence: {
          calls_30d,
          days_seen: Math.max(...keys.map(({ days_seen }) => days_seen)),
          ...span(keys),
          methods: added(keys.map(({ method, total_count }) => ({ [method]: Number(total_count) }))),
          path_prefixes: distinct(keys.map(({ first_segment }) => first_segment)),
          status_classes: {},
          credential_modes: { transit: 0, escrow: 0, none: 0, direct_header: distinct(keys.map(({ header_name }) => header_name)) },
          sdks: distinct(keys.flatMap(({ sdks }) => sdks)),
          agents: [],
          reporters: new Set(keys.flatMap(({ reporter_ids }) => reporter_ids)).size,
        },
      },
    ];
  });
}

function span(rows: readonly { first_seen: Date; last_seen: Date }[]) {
  const [first, last] = [Math.min(...rows.map((r) => r.first_seen.getTime())), Math.max(...rows.map((r) => r.last_seen.getTime()))];
  return { first_seen: new Date(first).toISOString(), last_seen: new Date(last).toISOString() };
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].slice(0, NAMED);

/** Stored by us as counts by name. */
function added(parts: readonly unknown[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const part of parts) for (const [name, n] of Object.entries(part as Record<string, number>)) sum[name] = (sum[name] ?? 0) + n;
  return sum;
}
