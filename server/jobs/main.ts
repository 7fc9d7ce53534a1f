import { setTimeout as sleep } from 'node:timers/promises';
import { writeCounts } from '#server/custody/counts.ts';
import { measureCustody } from '#server/custody/meters.ts';
import { flushUses } from '#server/custody/uses.ts';
import { evaluateAlerts } from '#server/domain/alerts/evaluation.ts';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { rootKeyFits } from '#server/domain/keys/root-check.ts';
import { watchKeys } from '#server/domain/keys/watch.ts';
import { sweepLeases } from '#server/domain/leases/service.ts';
import { runNotifications } from '#server/domain/notifications/service.ts';
import { copyCalls } from '#server/domain/request-logs/history/copying.ts';
import { measureHistory } from '#server/domain/request-logs/history/state.ts';
import { startWorkflows } from '#server/domain/workflows/engine/worker.ts';
import { startScheduled } from '#server/domain/workflows/schedule-runs.ts';
import type { LeaseHandlers } from '#server/kernel/lease.ts';
import { FIRST_ID, fillAuthorship, upgradedSince } from '#server/platform/authorship.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { closeClickHouse, hasClickHouse } from '#server/platform/clickhouse.ts';
import { closeDb, db } from '#server/platform/db.ts';
import { wipeKeys } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { type Loop, startLoop } from '#server/platform/loop.ts';
import { closeMail } from '#server/platform/mail.ts';
import { flushMeters } from '#server/platform/monthly-meter.ts';
import { sql } from '#server/platform/sql.ts';
import { endStart } from '#server/platform/startup.ts';
import { startTelemetry } from '#server/platform/telemetry/start.ts';
import { channels } from './channels.ts';
import { leaseHandlers } from './leases.ts';
import { startWorker } from './worker.ts';
import { measureWorker } from './worker-meters.ts';

// The worker process: scheduled and queued jobs on graphile-worker, and loops of their own for what must not wait for a free job slot.

const STOP_MS = 10_000;
/** How late a key may be disabled or a lease released. */
const LEASE_TICK_MS = 10_000;
/** How late a scheduled workflow may start. */
const SCHEDULE_TICK_MS = 2_000;
/** How often alerts are looked at (interface rule 70 §7). */
const ALERT_TICK_MS = 30_000;
const NOTIFY_MS = 2_000;
/** How late a machine of this release knows who stands behind what one of the release before wrote. */
const AUTHORSHIP_MS = 10_000;
/** How late calls get to ClickHouse, which wants few inserts of many rows. */
const COPY_MS = 5_000;

try {
  await fittingRootKey();
  const telemetry = await startTelemetry('worker');
  const endMeters = [measureCustody(), measureWorker(), measureHistory()];
  const keys = watchKeys();
  const worker = startWorker();
  const sweep = (handlers: LeaseHandlers) => async (signal: AbortSignal) => {
    const acted = await sweepLeases(handlers, { db: db(), now: new Date(), signal });
    if (Object.keys(acted).length > 0) log.info({ acted }, 'leases handled');
    return false;
  };
  const leases = [
    startLoop('evaluating alerts', ALERT_TICK_MS, async () => {
      const { alerts, ...done } = await evaluateAlerts(db(), new Date());
      if (Object.values(done).some((n) => n > 0)) log.info({ alerts, ...done }, 'alerts evaluated');
      return false;
    }),
    startLoop('sweeping leases', LEASE_TICK_MS, sweep(leaseHandlers('tick'))),
    ...Object.entries(leaseHandlers('apart')).map(([kind, handler]) =>
      startLoop(`sweeping leases of ${kind}`, LEASE_TICK_MS, sweep({ [kind]: handler })),
    ),
  ];
  const deliveries = startDeliveries(channels);
  const workflows = startWorkflows();
  const schedules = startLoop('starting scheduled workflows', SCHEDULE_TICK_MS, async () => (await startScheduled(db(), new Date())) > 0);
  const copying = hasClickHouse() ? [startLoop('copying calls to ClickHouse', COPY_MS, copyCalls)] : [];
  const upgrading = startUpgrade();
  const notifying = startLoop('notifying people', NOTIFY_MS, () => runNotifications(db(), new Date()));
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'worker stopping');
    await Promise.all([
      worker.stop(STOP_MS),
      Promise.race([
        Promise.all([
          ...[...leases, ...copying, upgrading].map((loop) => loop.stop()),
          deliveries.stop(),
          workflows.stop(),
          schedules.stop(),
          notifying.stop(),
        ]),
        sleep(STOP_MS),
      ]),
    ]);
    await keys.close();
    await Promise.race([Promise.all([backgroundSettled(), flushUses(), flushMeters(), writeCounts()]), sleep(2_000)]);
    for (const end of endMeters) end();
    await Promise.race([telemetry.close(), sleep(2_000)]);
    closeMail();
    await Promise.race([closeClickHouse(), sleep(500)]);
    wipeKeys();
    await Promise.race([closeDb(), sleep(1_000)]);
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
  // One job's fault must not end the jobs beside it: the queue tries it again.
  process.on('uncaughtException', (error) => log.error({ err: error }, 'uncaught exception'));
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  // The job queue prints the errors of its workers besides logging them: as they are, with a stack, each time.
  console.trace = (error: unknown) => log.debug({ err: error }, 'the job queue printed an error');
  await worker.started;
  log.info('worker started');
  process.send?.('ready');
} catch (error) {
  endStart('worker', error);
}

/** While machines of the release before may still write: in the first day after the migrations. */
function startUpgrade(): Loop {
  const query = sql().query.bind(sql()) as Parameters<typeof fillAuthorship>[0];
  let [first, over] = [true, false];
  return startLoop('filling what the release before leaves empty', AUTHORSHIP_MS, async () => {
    const since = over ? null : await upgradedSince(query);
    over = since === null;
    if (since === null) return false;
    const filled = await fillAuthorship(query, first ? FIRST_ID : since);
    first = false;
    if (filled > 0) log.info({ filled }, 'filled what the release before left empty');
    return false;
  });
}

/** Waits for the database as long as it takes; a key that does not fit ends the process at once. */
async function fittingRootKey(): Promise<void> {
  while (!(await rootKeyFits())) await sleep(1_000);
}
