import { type Agent, log, messageOf } from './agent.ts';
import { type DataPlane, type ServedCall, startDataPlane } from './data-plane.ts';
import { openedValue } from './stores.ts';

const REPORT_MS = 5_000;
const MOST_ROWS = 500;
/** While the control plane is away; the oldest are dropped then. */
const MOST_WAITING = 5_000;

/** Serves the routes of this agent's bundle, and tells the control plane of each call: metadata, no bodies. */
export async function startServing(agent: Agent): Promise<DataPlane> {
  const { settings, session, controlPlane } = agent;
  const waiting: ServedCall[] = [];
  let dropped = 0;
  const plane = await startDataPlane(
    {
      bundle: () => session.bundle(),
      open: (secret) => openedValue(session, secret),
      callerKey: settings.callerKey,
      counters: agent.counters,
      note(call) {
        waiting.push(call);
        if (waiting.length > MOST_WAITING) dropped += waiting.splice(0, waiting.length - MOST_WAITING).length;
      },
    },
    settings.listen.host,
    settings.listen.port,
  );
  const report = async (): Promise<void> => {
    const token = session.token();
    const rows = waiting.slice(0, MOST_ROWS);
    if (token === undefined || rows.length === 0) return;
    await controlPlane.withToken('POST', '/agent/v1/logs', token, {}, { rows });
    waiting.splice(0, rows.length);
    if (dropped > 0) log('warn', `${dropped} calls were not reported: too many waited`);
    dropped = 0;
    if (waiting.length > 0) await report();
  };
  let reporting: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    reporting = reporting.then(report).catch((error: unknown) => log('warn', `calls were not reported: ${messageOf(error)}`));
  }, REPORT_MS);
  log('info', `routes are served on ${plane.host}:${plane.port}`);
  return {
    ...plane,
    async close() {
      clearInterval(timer);
      await plane.close();
      await reporting;
      await report().catch(() => {});
    },
  };
}
