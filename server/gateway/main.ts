import { setTimeout as sleep } from 'node:timers/promises';
import { afterRootKey, startWithRootKey } from '#server/domain/keys/root-check.ts';
import { env } from '#server/platform/env.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { log } from '#server/platform/log.ts';
import { limitEveryStatement } from '#server/platform/sql.ts';
import { endStart, listenError } from '#server/platform/startup.ts';
import { startTelemetry } from '#server/platform/telemetry/start.ts';
import { assemble, LONGEST_STATEMENT_MS } from './assemble.ts';
import type { PortPlane } from './core/hosts.ts';

// The gateway process: owns every public port, serves the data planes itself and hands the rest to the web process.

const DRAIN_MS = 30_000;

try {
  limitEveryStatement(LONGEST_STATEMENT_MS);
  // Without the database the sealed snapshot serves; it opens with the right key only.
  await startWithRootKey((error) => endStart('gateway', error));
  const telemetry = await startTelemetry('gateway');
  const { gateway, controlSocket, close } = await assemble(undefined, undefined, afterRootKey);
  const ports = Object.entries(env.PLANE_PORTS) as [Exclude<PortPlane, null>, number][];
  const wanted: [PortPlane, number][] = ports.length > 0 ? ports : [[null, env.PORT]];
  for (const [plane, port] of wanted)
    await gateway.listen(plane, port, env.BIND_ADDRESS).catch((error: unknown) => {
      throw listenError(error, port, env.BIND_ADDRESS);
    });
  // Trying routes is for people; a gateway that cannot offer it serves calls all the same.
  await controlSocket
    .listen(controlSocketPath())
    .catch((error: unknown) => log.error({ err: error }, 'route tests from the dashboard are unavailable'));
  log.info({ ports: Object.fromEntries(wanted.map(([plane, port]) => [plane ?? 'all', port])) }, 'gateway started');

  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      log.info({ signal }, 'gateway stopping');
      gateway.leave();
      sleep(env.SHUTDOWN_DELAY_SECONDS * 1_000)
        .then(() => close(DRAIN_MS))
        .finally(() => telemetry.close())
        .then(
          () => process.exit(0),
          (error: unknown) => {
            log.error({ err: error }, 'the gateway did not stop cleanly');
            process.exit(1);
          },
        );
    });
  }
  // A fault in one call must not take down the calls beside it; the state of this process is per call and rebuilt from the database.
  process.on('uncaughtException', (error) => log.error({ err: error }, 'uncaught exception'));
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
} catch (error) {
  endStart('gateway', error);
}
