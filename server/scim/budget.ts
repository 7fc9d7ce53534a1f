import { sql } from '#server/platform/sql.ts';
import { network, take } from '#server/platform/throttle.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { ScimProblem } from './problem.ts';

/** In any 60 seconds: 600 and a burst of 150 (interface rule 23 §9). */
export const BUDGET = 750;
/** Requests of one address in 60 seconds, above the budget so that a directory never meets it. */
const FLOOD = 3_000;
const BAD_TOKENS = { limit: 30, window_sec: 300 };

const limited = (detail: string, retryAfter: number) =>
  new ScimProblem(429, detail, { error: 'scim_rate_limited', headers: { 'retry-after': String(Math.max(1, retryAfter)) } });

/** Counting comes before serving: a call that can't be counted is refused. */
async function counted<T>(count: () => Promise<T>): Promise<T> {
  try {
    return await count();
  } catch (error) {
    throw new ScimProblem(503, "Requests can't be counted at the moment. Try again in a few seconds.", {
      error: 'scim_rate_limiter_unavailable',
      headers: { 'retry-after': '5' },
      cause: error,
    });
  }
}

/** Takes one request from the budget of a workspace and space. @throws ScimProblem 429, 503 */
export async function takeBudget(tenantId: string, space: string, now: Date): Promise<void> {
  const second = Math.floor(now.getTime() / 1000);
  const wait = await counted(async () => {
    const { rows } = await sql().query<{ wait: number }>({
      name: 'scim-budget',
      text: 'select take_scim_budget($1, $2, $3) as wait',
      values: [`scim:${tenantId}:${space}`, second, BUDGET],
    });
    return rows[0]?.wait ?? 1;
  });
  if (wait > 0) throw limited(`This workspace's budget of ${BUDGET} requests in 60 seconds is used up. Try again in ${wait} s.`, wait);
}

/** Refuses an address that floods the plane, before anything is looked up. @throws ScimProblem 429, 503 */
export async function shieldFromFlood(ip: string | null, now: Date): Promise<void> {
  const second = Math.floor(now.getTime() / 1000);
  const n = await counted(() => windowCounter()(`scim-flood:${network(ip)}`, Math.floor(second / 60), 60, FLOOD + 1));
  if (n > FLOOD) throw limited('Too many requests from your IP address. Try again shortly.', 60 - (second % 60));
}

/**
 * Counts a token that was none. Valid ones keep working from the same address: directories of many workspaces share theirs.
 * @throws ScimProblem 429, 503
 */
export async function countBadToken(ip: string | null, now: Date): Promise<void> {
  const taken = await counted(() => take({ what: 'scim-bad-token', subject: network(ip), ...BAD_TOKENS }, now));
  if (!taken.allowed) throw limited('Too many requests with invalid credentials from your IP address.', taken.retry_after);
}
