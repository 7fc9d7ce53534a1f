import type { Pool } from 'pg';
import { measureCustody } from '#server/custody/meters.ts';
import { observe } from '#server/platform/telemetry/meters.ts';
import { watchPool } from '#server/platform/telemetry/pool-meters.ts';
import type { Journal } from './core/log/journal.ts';
import type { Spill } from './core/log/spill.ts';
import type { LogWriter } from './core/log/writer.ts';
import type { Runtime } from './core/runtime.ts';

type Parts = {
  runtime: Pick<Runtime, 'snapshots' | 'pools' | 'webSockets' | 'inFlight' | 'keyring'>;
  logs: Pick<LogWriter, 'queued'>;
  spill: Pick<Spill, 'holds'>;
  journal: Pick<Journal, 'holds' | 'failing'> | undefined;
  pool: Pool;
};

/** Has the state of a gateway read when somebody asks; a call notices nothing of it. Returns what ends it. */
export function measureGateway({ runtime, logs, spill, journal, pool }: Parts): () => void {
  const { snapshots, pools, webSockets, inFlight, keyring } = runtime;
  watchPool('gateway', pool);
  const gauge = (name: string, help: string, read: Parameters<typeof observe>[2], unit?: 's') =>
    observe('gauge', { name, help, unit }, read);
  const removals = [
    measureCustody(),
    gauge('sallyport_calls_in_flight', 'Calls under way', () => [...inFlight.values()].reduce((sum, n) => sum + n, 0)),
    gauge('sallyport_websockets_open', 'Open WebSockets', () => webSockets.size),
    gauge('sallyport_upstream_connections', 'Connections to upstreams, and calls that wait for one', () =>
      Object.entries(pools.connections()).map(([state, value]) => ({ labels: { state }, value })),
    ),
    gauge('sallyport_upstream_pools', 'Upstreams with connections of their own', () => pools.size),
    gauge(
      'sallyport_snapshot_age_seconds',
      'Time since the configuration was last confirmed against the database',
      () => snapshots.ageMs() / 1_000,
      's',
    ),
    gauge('sallyport_snapshot_fresh', '1 while the configuration is recent enough to serve calls', () => Number(snapshots.fresh)),
    gauge('sallyport_snapshot_version', 'Changes of workspaces that this gateway has taken in since its start', () => snapshots.version),
    gauge(
      'sallyport_snapshot_failures',
      'Failed attempts to confirm the configuration since the last that succeeded',
      () => snapshots.failures,
    ),
    gauge('sallyport_snapshot_entries', 'What the configuration holds of all workspaces', () =>
      Object.entries(snapshots.sizes()).map(([slice, value]) => ({ labels: { slice }, value })),
    ),
    gauge('sallyport_sealed_workspaces', 'Workspaces whose key is out of reach', () => snapshots.sealed),
    gauge('sallyport_tenant_keys_open', 'Keys of workspaces in memory', () => keyring.size),
    gauge('sallyport_request_log_queue', 'Rows of the request log that wait for the database', () => logs.queued),
    gauge('sallyport_request_log_spilled', '1 while rows wait on the disk because the database is away', () =>
      Number(spill.holds || journal?.holds === true),
    ),
    gauge('sallyport_request_log_journal_failing', '1 while calls are answered whose rows the disk does not take', () =>
      Number(journal?.failing === true),
    ),
  ];
  return () => {
    for (const remove of removals) remove();
  };
}
