import type { Health, Trouble } from './core/health.ts';
import type { LogWriter } from './core/log/writer.ts';
import type { Runtime } from './core/runtime.ts';

/** What this gateway knows of the parts it works with, from what it did last: asking costs nothing. */
export function gatewayHealth(
  { snapshots, counters }: Pick<Runtime, 'snapshots' | 'counters'>,
  logs: Pick<LogWriter, 'failingSince'>,
): Health {
  const { awaySince, confirmedAt, fresh } = snapshots;
  const degraded: Trouble[] = [];
  const down: Trouble[] = [];
  const at = confirmedAt?.toISOString();
  if (awaySince && fresh)
    degraded.push({ part: 'database', since: awaySince, effect: `${DATABASE_AWAY} Calls are served from the configuration of ${at}.` });
  else if (awaySince) down.push({ part: 'database', since: awaySince, effect: `${DATABASE_AWAY} ${at ? tooOld(at) : NOTHING_YET}` });
  else if (!fresh && at) down.push({ part: 'configuration', since: null, effect: tooOld(at) });
  if (fresh && !snapshots.knowsAll)
    degraded.push({
      part: 'configuration',
      since: awaySince,
      effect: 'Some workspaces are missing in the copy on disk and are served when the database is back.',
    });
  if (logs.failingSince) degraded.push({ part: 'request_log', since: logs.failingSince, effect: LOG_WAITS });
  if (counters.awaySince) degraded.push({ part: 'counters', since: counters.awaySince, effect: COUNTERS_AWAY });
  return { calls: fresh ? 'ok' : at ? 'unavailable' : 'starting', degraded, down };
}

const DATABASE_AWAY = "PostgreSQL doesn't answer: the dashboard, the API, OAuth and SCIM are unavailable.";
const LOG_WAITS = 'The database takes no rows of the request log: they wait on the disk of this gateway.';
const NOTHING_YET = 'There is no configuration on disk to serve calls from.';
const tooOld = (at: string) =>
  `The configuration was last confirmed at ${at}, longer ago than SNAPSHOT_MAX_AGE_SECONDS: no calls are served.`;
const COUNTERS_AWAY =
  "The counter store doesn't answer. Each gateway counts its share of the limits of routes and workspaces by itself; limits of API keys and of AI calls aren't applied.";
