import type pg from 'pg';
import { clickHouseVersion, historyState } from '../../server/domain/request-logs/history/state.ts';
import { closeClickHouse } from '../../server/platform/clickhouse.ts';
import type { Env } from '../../server/platform/env.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** Older calls are in ClickHouse, and what it can't take waits in the database. */
export async function clickHouseFindings(client: pg.Client, env: Env): Promise<Finding[]> {
  const { rows: made } = await client.query("select to_regclass('public.request_log_history') as there");
  if (made[0]?.there === null) return [];
  const state = await historyState(client);
  const older = state?.read_there_until
    ? `calls until ${state.read_there_until.toISOString()} are read from it`
    : 'no calls are read from it yet';
  if (!env.CLICKHOUSE_URL)
    return state?.read_there_until ? [bad(`${older}, but CLICKHOUSE_URL is not set`, 'Set it. Until then, lists lack those calls.')] : [];
  try {
    const server = ok(`${await clickHouseVersion()}, ${older}`);
    if (!state?.failing_since) return [server, ...behind(state?.waiting_s ?? 0)];
    return [
      server,
      warn(`copying has failed since ${state.failing_since.toISOString()}: ${state.failure}`, 'Calls wait in PostgreSQL until it works.'),
    ];
  } catch (error) {
    return [
      bad(
        `${(error as Error).message}; ${older}`,
        'Check the CLICKHOUSE_ settings and the server. New calls wait in PostgreSQL; lists lack the older ones meanwhile.',
      ),
    ];
  } finally {
    await closeClickHouse();
  }
}

const behind = (seconds: number): Finding[] =>
  seconds > 120
    ? [warn(`the copy is ${Math.round(seconds)} s behind`, 'A first copy takes a while. Otherwise, see that a worker runs.')]
    : [];
