import { type HotCtx, keyBehind } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';

/** How many days are kept (interface rule 64 §7). */
export const SEEN_DAYS = 30;
const EVERY_MS = 10_000;
const MOST_AT_ONCE = 20_000;

type Seen = {
  tenant_id: string;
  sandbox: boolean;
  api_key_id: string;
  version: string;
  named: boolean;
  day: string;
  calls: number;
  last_at: number;
};
const tally = processState('api-versions', (): { seen: Map<string, Seen>; timer?: NodeJS.Timeout | undefined } => ({ seen: new Map() }));

/**
 * Counts a call of the Management API under the version it runs under, for its key or the key behind its token. An addition in memory: rows are written every ten seconds by one
 * statement that no call waits for, and what a process has not written when it ends is lost.
 */
export function recordVersionUse({ actor, tenant_id, sandbox, now }: HotCtx, version: string, named: boolean): void {
  const id = keyBehind(actor)?.id;
  if (id === undefined) return;
  const day = now.toISOString().slice(0, 10);
  const key = `${id} ${version} ${named} ${day}`;
  const known = tally.seen.get(key);
  if (known) {
    known.calls++;
    known.last_at = now.getTime();
    return;
  }
  if (tally.seen.size >= MOST_AT_ONCE) return;
  tally.seen.set(key, { tenant_id, sandbox, api_key_id: id, version, named, day, calls: 1, last_at: now.getTime() });
  tally.timer ??= setTimeout(() => void writeVersions(), EVERY_MS).unref();
}

/** Writes what was counted so far. Never throws: a count that cannot be written is dropped, and said in the log. */
export async function writeVersions(): Promise<void> {
  clearTimeout(tally.timer);
  tally.timer = undefined;
  const rows = [...tally.seen.values()];
  tally.seen = new Map();
  if (rows.length === 0) return;
  await sql()
    .query({ name: 'write-versions', text: WRITE, values: [JSON.stringify(rows)] })
    .catch((error: unknown) => log.warn({ err: error, lost: rows.length }, 'cannot record the API versions that keys use'));
}

// In one order always, so that two processes never wait for each other in a circle.
const WRITE = `insert into api_version_days (tenant_id, sandbox, api_key_id, version, named, day, calls, last_at)
  select tenant_id, sandbox, api_key_id, version, named, day, calls, to_timestamp(last_at / 1000.0)
  from json_to_recordset($1::json) as r(tenant_id uuid, sandbox boolean, api_key_id uuid, version text, named boolean, day date, calls bigint, last_at float8)
  order by 1, 2, 3, 4, 5, 6
  on conflict (tenant_id, sandbox, api_key_id, version, named, day)
  do update set calls = api_version_days.calls + excluded.calls, last_at = greatest(api_version_days.last_at, excluded.last_at)`;

/** The daily clean-up of all workspaces. @returns rows removed */
export async function pruneVersions(now: Date): Promise<number> {
  const { rowCount } = await sql().query('delete from api_version_days where day <= $1::date - $2::int', [
    now.toISOString().slice(0, 10),
    SEEN_DAYS,
  ]);
  return rowCount ?? 0;
}
