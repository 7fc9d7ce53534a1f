import fs from 'node:fs';
import type pg from 'pg';
import type { Env } from '../../server/platform/env.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const SYNC = 'Sync the clock with NTP. Tokens and leases are refused when clocks disagree.';
const DAY_MS = 86_400_000;

/** A reading of another clock; it took `took_ms`, so it may be off by that much. */
export type Reading = { of: string; at: Date; took_ms: number };

/** Leases, tokens and one-time codes compare our clock with others. */
export function clockFinding({ of, at, took_ms }: Reading, now = Date.now()): Finding {
  const apart = Math.max(0, Math.abs(now - at.getTime()) - took_ms) / 1000;
  const says = `${apart.toFixed(1)} s from that of ${of}`;
  if (apart > 60) return bad(says, SYNC);
  return apart > 2 ? warn(says, SYNC) : ok(says);
}

/** A clock that is behind what has already happened: the newest entry of the audit log, and the making of this release. */
export function pastFinding(what: string, at: Date | undefined, slackMs: number, now = Date.now()): Finding | undefined {
  if (!at || at.getTime() <= now + slackMs) return undefined;
  return bad(`this machine's clock says ${new Date(now).toISOString()}, which is before ${what} (${at.toISOString()})`, SYNC);
}

/** Migrations are named by the moment they were made. */
export function releaseFinding(now = Date.now()): Finding | undefined {
  const stamps = fs.readdirSync('prisma/migrations').flatMap((name) => /^\d{14}/.exec(name)?.[0] ?? []);
  const [, y, mo, d, h, mi] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)/.exec(stamps.sort().at(-1) ?? '') ?? [];
  if (y === undefined) return undefined;
  return pastFinding('this release was made', new Date(Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi))), DAY_MS, now);
}

export async function newestEntry(client: pg.Client): Promise<Finding | undefined> {
  const { rows: made } = await client.query("select to_regclass('public.audit_logs') is not null as there");
  if (!made[0]?.there) return undefined;
  // By the sequence, whose index needs no look at a time.
  const { rows } = await client.query<{ created_at: Date }>('select created_at from audit_logs order by seq desc limit 1');
  return pastFinding('the newest entry of the audit log', rows[0]?.created_at, 60_000);
}

/** The clock of the counter store, when there is one that answers. */
export async function redisReading({ REDIS_URL }: Env): Promise<Reading | undefined> {
  if (!REDIS_URL) return undefined;
  const { openRedis } = await import('../../server/platform/redis.ts');
  const redis = await openRedis(REDIS_URL, () => {});
  try {
    const began = performance.now();
    const [seconds, micros] = (await redis.time()) as unknown as [string, string];
    const at = new Date(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000));
    return { of: 'Redis', at, took_ms: performance.now() - began };
  } catch {
    return undefined; // whether it can be reached is another finding
  } finally {
    redis.disconnect();
  }
}
