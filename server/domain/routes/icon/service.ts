import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { isEchoUrl } from '#server/kernel/echo-origin.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { sql } from '#server/platform/sql.ts';
import type { OverviewRoutes } from '../schema.ts';
import { type Asked, askForIcon } from './fetch.ts';

// Icons are decoration: no write waits for one, no call depends on one, and a host that shows none is asked again a few days later.

const AGAIN = { found: "interval '30 days'", otherwise: "interval '3 days'" };
/** Hosts asked at a time: one that drips holds up few others. */
const AT_ONCE = 8;
/** The job runs every minute, by itself. */
const FOR_MS = 45_000;

/** The icons of some routes as data URLs of PNG or ICO; routes without one are left out. */
export function routeIcons(ctx: Ctx, { ids }: z.output<typeof OverviewRoutes>) {
  return read(ctx, async (tx) => {
    const rows = await tx.routes.findMany({
      where: { ...own(ctx), id: { in: ids }, favicon_data: { not: null } },
      select: { id: true, favicon_data: true },
    });
    return rows.flatMap(({ id, favicon_data }) => (favicon_data ? [{ route_id: id, icon: favicon_data }] : []));
  });
}

/** The scheme and host of an upstream whose icon can be asked for: not our own echo, and no host that variables make. */
export function iconOrigin(target: string | null | undefined): string | null {
  const origin = /^https?:\/\/[^/{}]+(?=\/|$)/i.exec(target ?? '')?.[0];
  return origin === undefined || isEchoUrl(origin) ? null : origin.toLowerCase();
}

/** Another host has another icon: the old one goes with the write, the new one comes when it comes. */
export async function forgetIcon(tx: Tx, ctx: Ctx, routeId: string): Promise<void> {
  await tx.routes.updateMany({
    where: { ...own(ctx), id: routeId },
    data: { favicon_url: null, favicon_data: null, favicon_updated_at: null, favicon_due_at: ctx.now, updated_at: ctx.now },
  });
}

type Due = { id: string; tenant_id: string; sandbox: boolean; target: string | null };

/**
 * The job of all workspaces: asks the hosts whose icon is due, each once however many routes of a space lead there. A row is claimed for three days
 * before its host is asked, so a host that brings the worker down is not asked in a circle. Returns how many icons were found.
 */
export async function fetchDueIcons(now: Date, signal: AbortSignal, given?: OutboundHttp['request'], withinMs?: number): Promise<number> {
  const http = openHttp({ connections: 2 });
  const send = given ?? http.request;
  const asked = new Map<string, Promise<Asked>>();
  const until = performance.now() + FOR_MS;
  let found = 0;
  try {
    while (!signal.aborted && performance.now() < until) {
      const due = await claim(now);
      const results = await Promise.all(
        due.map(async (route) => {
          const origin = iconOrigin(route.target);
          if (origin === null) return store(route, null, now);
          const who = { tenant: route.tenant_id, space: route.sandbox ? 'test' : 'live' };
          const key = `${who.tenant} ${who.space} ${origin}`;
          const answer = asked.get(key) ?? askForIcon(send, origin, who, withinMs);
          asked.set(key, answer);
          return store(route, await answer, now);
        }),
      );
      found += results.filter(Boolean).length;
      if (due.length < AT_ONCE) break;
    }
  } finally {
    await http.close();
  }
  return found;
}

async function claim(now: Date): Promise<Due[]> {
  const { rows } = await sql().query<Due>(
    `with due as (select id from routes where favicon_due_at <= $1 order by favicon_due_at limit ${AT_ONCE} for update skip locked)
     update routes r set favicon_due_at = $1::timestamptz + ${AGAIN.otherwise} from due
     where r.id = due.id returning r.id, r.tenant_id, r.sandbox,
       (select c.target_base_url from route_environment_configs c where c.route_id = r.id and c.is_base) as target`,
    [now],
  );
  return rows;
}

/** Only while the route still leads there: a write that came between has made it due again. `updated_at` stays, so that no editor is told of a change. */
async function store(route: Due, asked: Asked | null, now: Date): Promise<boolean> {
  const { outcome, url, image } = asked ?? { outcome: 'none' };
  if (outcome === 'silent') return false;
  const data = image ? `data:${image.type};base64,${image.bytes.toString('base64')}` : null;
  const due = asked === null ? 'null' : `$5::timestamptz + ${AGAIN[image ? 'found' : 'otherwise']}`;
  const { rowCount } = await sql().query(
    `update routes r set favicon_url = $3, favicon_data = $4, favicon_updated_at = case when $4::text is null then null else $5::timestamptz end,
       favicon_due_at = ${due}
     from route_environment_configs c where r.id = $1 and c.route_id = r.id and c.is_base and c.target_base_url = $2`,
    [route.id, route.target, url ?? null, data, now],
  );
  return image !== undefined && rowCount === 1;
}
