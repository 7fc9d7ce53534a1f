import ipaddr from 'ipaddr.js';
import { digest } from '#server/crypto/tokens.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { sql } from './sql.ts';

/** At most `limit` in any `window_sec` seconds. `subject` may be an address or a token: only its digest is stored. */
export type Rule = { what: string; subject: string; limit: number; window_sec: number };
export type Taken = { allowed: boolean; retry_after: number; give_back: () => Promise<void> };

/** A sliding window is counted in twelfths: a refused caller waits at most a twelfth longer than an exact log would ask. */
const slices = 12;

/**
 * Counts one attempt and says whether it is within the rule (interface rules 20 §7.1, 22 §4). The counters are rows, so that every process and
 * every restart sees the same ones; attempts here are rare and dear, a row costs nothing beside them. A refused attempt is not counted.
 * @throws when the store does not answer: these throttles fail closed
 */
export async function take(rule: Rule, now: Date): Promise<Taken> {
  const key = `throttle:${rule.what}:${digest(rule.subject).toString('base64url')}`;
  const slice = (rule.window_sec * 1000) / slices;
  const current = Math.floor(now.getTime() / slice);
  const { rows } = await sql().query<{ total: string; oldest: string }>({
    name: 'throttle-take',
    text: TAKE,
    values: [key, current, current - slices - 1, new Date(now.getTime() + rule.window_sec * 1000)],
  });
  const total = Number(rows[0]?.total ?? 1);
  const giveBack = async () =>
    void (await sql().query({
      name: 'throttle-give-back',
      text: 'update rate_counters set n = n - 1 where key = $1 and "window" = $2 and n > 0',
      values: [key, current],
    }));
  if (total <= rule.limit) return { allowed: true, retry_after: 0, give_back: giveBack };
  await giveBack();
  const free = (Number(rows[0]?.oldest ?? current) + slices + 1) * slice;
  return { allowed: false, retry_after: Math.max(1, Math.ceil((free - now.getTime()) / 1000)), give_back: async () => {} };
}

// The upsert locks its row, so that two attempts at once never both see the last free place.
const TAKE = `with mine as (
    insert into rate_counters (key, "window", n, expires_at) values ($1, $2, 1, $4)
    on conflict (key, "window") do update set n = rate_counters.n + 1, expires_at = excluded.expires_at returning n)
  select (select n from mine) + coalesce(sum(n), 0) as total, coalesce(min("window"), $2) as oldest
  from rate_counters where key = $1 and "window" > $3 and "window" < $2 and n > 0`;

/** Counts one attempt against every rule, or refuses and counts none. @throws Refusal of `type` with Retry-After */
export async function throttled(
  rules: readonly Rule[],
  now: Date,
  type: 'rate_limited' | 'rate_limit_exceeded',
): Promise<() => Promise<void>> {
  const taken: Taken[] = [];
  for (const rule of rules) {
    const one = await take(rule, now);
    if (!one.allowed) {
      for (const earlier of taken) await earlier.give_back();
      throw new Refusal(type, `Too many attempts. Try again in ${inWords(one.retry_after)}.`, { retryAfter: one.retry_after });
    }
    taken.push(one);
  }
  return async () => {
    for (const one of taken) await one.give_back();
  };
}

/** Rounded up, so that the next attempt is not too early. */
function inWords(seconds: number): string {
  const [n, unit] = seconds < 60 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `about ${n} ${unit}${n === 1 ? '' : 's'}`;
}

/** One network of one subscriber: an IPv6 address counts as its /64 (interface rule 20 §7.1). */
export function network(ip: string | null): string {
  if (!ip || !ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv4' ? address.toString() : `${address.toNormalizedString().split(':').slice(0, 4).join(':')}::/64`;
}
