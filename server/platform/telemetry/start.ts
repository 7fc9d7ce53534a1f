import { env, METRICS_OFFSETS, type Role } from '../env.ts';
import { log } from '../log.ts';

export type Telemetry = { close(): Promise<void> };

const NOTHING: Telemetry = { close: async () => {} };

/**
 * Serves and exports what this process counts, as far as the operator asked for it: METRICS_PORT opens the Prometheus endpoint, an OTLP endpoint starts the
 * exports. Loads nothing without. Never rejects: a port that is taken, or a collector that is away, must not keep calls from being served.
 */
export async function startTelemetry(role: Role): Promise<Telemetry> {
  const { METRICS_PORT, METRICS_HOST, OTLP } = env;
  if (METRICS_PORT === undefined && OTLP === undefined) return NOTHING;
  try {
    const [{ measureProcess }, { measurePools }] = await Promise.all([import('./process-meters.ts'), import('./pool-meters.ts')]);
    const ends = [measureProcess(role), measurePools()];
    const running = await Promise.all([
      METRICS_PORT === undefined ? NOTHING : served(METRICS_HOST, METRICS_PORT + METRICS_OFFSETS[role]),
      OTLP === undefined ? NOTHING : import('./otlp.ts').then(({ startOtlp }) => startOtlp(role, OTLP)),
    ]);
    return {
      async close() {
        await Promise.allSettled(running.map((one) => one.close()));
        for (const end of ends) end();
      },
    };
  } catch (error) {
    log.error({ err: error }, 'telemetry could not be started');
    return NOTHING;
  }
}

async function served(host: string, port: number): Promise<Telemetry> {
  const { serveMetrics } = await import('./endpoint.ts');
  try {
    const endpoint = await serveMetrics(host, port);
    log.info({ host, port }, 'metrics are served');
    return endpoint;
  } catch (error) {
    log.error({ err: error, host, port }, 'metrics are not served: the port of METRICS_PORT could not be opened');
    return NOTHING;
  }
}
