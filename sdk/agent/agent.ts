import fs from 'node:fs';
import { type ControlPlane, ControlPlaneError, createControlPlane, Unreachable } from './control-plane.ts';
import { startControlConnection } from './control-socket.ts';
import { doctor } from './doctor.ts';
import type { Counters } from './forward-proxy.ts';
import { type Credentials, type Home, openHome, readCredentials } from './home.ts';
import { type AgentKeys, buildStatement, isSignatureOf, keysOf, sha256 } from './keys.ts';
import { hostFacts, machineFingerprint } from './machine.ts';
import type { Command, HeartbeatAnswer, Mode } from './protocol.ts';
import { type ScanArgs, scan } from './scan.ts';
import { createSession, dataOf, type Session } from './session.ts';
import { type Settings, VERSION } from './settings.ts';

export type Agent = {
  settings: Settings;
  home: Home;
  credentials: Credentials;
  keys: AgentKeys;
  controlPlane: ControlPlane;
  session: Session;
  counters: Counters;
  lastError: string | null;
  listeners: { port: number; protocol: string; open: boolean }[];
  startedAt: number;
};

/** How the process ends: systemd starts it again after all but `revoked`. */
export const EXIT = { stopped: 0, failed: 1, revoked: 3, updated: 75 } as const;

/** Opens what enrolling left, or what the environment says. Throws with the next step when there is neither. */
export function openAgent(settings: Settings, wanted?: Mode): Agent {
  const home = openHome(settings.home);
  const credentials = credentialsOf(settings, home, wanted);
  const keys = keysOf(credentials.agent_id, credentials.agent_secret);
  const controlPlane = createControlPlane(settings.apiBase ?? credentials.api_base, keys);
  const mode = wanted ?? credentials.mode;
  const session = createSession({
    home,
    keys,
    controlPlane,
    controlPlaneKey: credentials.control_plane_key,
    fingerprint: machineFingerprint(home, settings.idFile),
    version: VERSION,
    buildSig: buildSignature(home),
    mode,
    facts: hostFacts(),
    offlineGraceHours: settings.offlineGraceHours,
  });
  return {
    settings,
    home,
    credentials: { ...credentials, mode },
    keys,
    controlPlane,
    session,
    counters: { requests: 0, errors: 0, intercepted: 0, passed: 0, durations: [] },
    lastError: null,
    listeners: [],
    startedAt: Date.now(),
  };
}

function credentialsOf(settings: Settings, home: Home, wanted: Mode | undefined): Credentials {
  const { agentId, agentSecret, apiBase, controlPlaneKey } = settings;
  if (agentId !== undefined && agentSecret !== undefined) {
    if (apiBase === undefined || controlPlaneKey === undefined)
      throw new Error('With SVC_AGENT_ID and SVC_AGENT_SECRET, set SVC_AGENT_API and SVC_AGENT_CONTROL_PLANE_KEY too.');
    return {
      agent_id: agentId,
      agent_secret: agentSecret,
      api_base: apiBase,
      control_plane_key: controlPlaneKey,
      mode: wanted ?? 'server',
    };
  }
  const found = readCredentials(home);
  if (found) return found;
  throw new Error(`${home.folder} has no credentials. Create an install token on the Agents page and run its command.`);
}

/** What the release key says of the installed file; a file that was changed has none. */
export function buildSignature(home: Home): string | null {
  return home.read('signature')?.trim() || null;
}

/**
 * Runs until it is stopped or revoked: sessions, heartbeats and their commands, and the manifest every 30 s. `changed` is called when routes or rules may
 * have changed. Gives the exit code.
 */
export async function runAgent(agent: Agent, stop: AbortSignal, changed: () => Promise<void> = async () => {}): Promise<number> {
  const { session, settings, controlPlane } = agent;
  let end: (code: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const timers = new Set<NodeJS.Timeout>();
  const later = (work: () => Promise<number>, after: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!stop.aborted) work().then((next) => later(work, next), fail);
    }, after);
    timers.add(timer);
  };
  const fail = (error: unknown) => {
    log('error', messageOf(error));
    end(EXIT.failed);
  };
  /** Runs `work`; a revoked agent forgets everything and ends, any other failure is noted and tried again. */
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      agent.lastError = null;
      return true;
    } catch (error) {
      agent.lastError = messageOf(error);
      if (error instanceof ControlPlaneError && error.type === 'agent_revoked') revoked();
      else log('warn', agent.lastError);
      return false;
    }
  };
  const revoked = () => {
    session.wipe();
    log('error', 'This agent was revoked. Its cache is gone, and it stops.');
    end(EXIT.revoked);
  };

  let failures = 0;
  const renew = async () => {
    const good = await attempt(async () => {
      await session.refresh();
      await changed();
    });
    failures = good ? 0 : failures + 1;
    return good ? session.untilRefresh() : Math.min(15_000 * 2 ** Math.min(failures, 5), 300_000);
  };
  // Twelve sessions an hour are all there are: of many changes in a row the last ones wait.
  let caughtUp: number[] = [];
  const poll = async () => {
    await attempt(async () => {
      const newer = await session.poll();
      caughtUp = caughtUp.filter((at) => Date.now() - at < CATCH_UP_MS);
      if (session.isBehind() && caughtUp.length < MOST_CATCH_UPS) {
        caughtUp.push(Date.now());
        await session.refresh();
        await changed();
      } else if (newer) await changed();
    });
    return settings.manifestMs;
  };
  const beat = async () => {
    await attempt(async () => {
      const token = session.token();
      if (token === undefined) return;
      const sent = { ...agent.counters };
      const heartbeat = heartbeatOf(agent);
      const post = async () =>
        dataOf<HeartbeatAnswer>((await controlPlane.withToken('POST', '/agent/v1/heartbeat', token, {}, heartbeat)).body);
      const answer = await (connection.beat(heartbeat)?.catch((error: unknown) => {
        if (error instanceof Unreachable) return post();
        throw error;
      }) ?? post());
      for (const name of COUNTED) agent.counters[name] -= sent[name];
      heed(answer);
    });
    return settings.heartbeatMs;
  };
  const heed = (answer: HeartbeatAnswer) => {
    if (answer.revoked) return revoked();
    for (const command of answer.commands ?? []) void obey(command);
  };
  const tell = async (id: string, result: unknown): Promise<void> => {
    const token = session.token();
    if (token !== undefined) await controlPlane.withToken('POST', `/agent/v1/commands/${id}/result`, token, {}, result);
  };
  const obey = (command: Command) =>
    attempt(async () => {
      log('info', `running ${command.command}`);
      const { exit, ...result } = await resultOf(agent, command, changed);
      await tell(command.id, result).catch((error: unknown) => {
        // An answer that isn't taken must not leave the command waiting.
        if (!(error instanceof ControlPlaneError) || error.status !== 400) throw error;
        return tell(command.id, { ok: false, output: null, error: error.message.slice(0, 500) });
      });
      if (exit !== undefined) end(exit);
    });

  stop.addEventListener('abort', () => end(EXIT.stopped), { once: true });
  const next = await renew();
  const connection = startControlConnection({
    controlPlane,
    agentId: agent.keys.agentId,
    token: () => session.token(),
    onPushed: heed,
    log: (message) => log('info', message),
  });
  later(renew, next);
  later(beat, 0);
  later(poll, 0);
  const code = await ended;
  for (const timer of timers) clearTimeout(timer);
  connection.close();
  return code;
}

const [CATCH_UP_MS, MOST_CATCH_UPS] = [20 * 60_000, 3];
const COUNTED = ['requests', 'errors', 'intercepted', 'passed'] as const;
let lastCpu = { at: Date.now(), used: process.cpuUsage() };

function heartbeatOf(agent: Agent): Record<string, unknown> {
  const { requests, errors, intercepted, passed, durations } = agent.counters;
  const used = process.cpuUsage();
  const busy = used.user + used.system - lastCpu.used.user - lastCpu.used.system;
  // Percent of one core.
  const cpu = Math.min(100, busy / 10 / Math.max(1, Date.now() - lastCpu.at));
  lastCpu = { at: Date.now(), used };
  return {
    uptime_s: Math.floor((Date.now() - agent.startedAt) / 1000),
    version: VERSION,
    mode: agent.session.mode(),
    counters: { requests, errors, intercepted, passed },
    p95_ms: percentile95(durations),
    mem_mb: Math.round(process.memoryUsage.rss() / 1_048_576),
    cpu: Math.round(cpu * 10) / 10,
    last_error: agent.lastError?.slice(0, 500) ?? null,
    listeners: agent.listeners,
  };
}

/** Null without calls. */
function percentile95(durations: readonly number[]): number | null {
  if (durations.length === 0) return null;
  const sorted = [...durations].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? null;
}

type Result = { ok: boolean; output: unknown; error?: string; exit?: number };

async function resultOf(agent: Agent, { command, args }: Command, changed: () => Promise<void>): Promise<Result> {
  try {
    switch (command) {
      case 'doctor':
        return {
          ok: true,
          output: await doctor({
            ...agent,
            apiBase: agent.controlPlane.apiBase,
            port: agent.settings.port,
            listen: agent.settings.listen,
            mode: agent.session.mode(),
          }),
        };
      case 'scan':
        return { ok: true, output: fitting(scan((args ?? {}) as ScanArgs)) };
      case 'refresh':
        await agent.session.refresh();
        await changed();
        return { ok: true, output: { window: agent.session.bundle()?.window ?? null } };
      case 'update':
        return await updated(agent);
    }
  } catch (error) {
    return { ok: false, output: null, error: messageOf(error).slice(0, 500) };
  }
}

/** Below the limit of 1 MiB for an answer. */
function fitting(report: ReturnType<typeof scan>): ReturnType<typeof scan> {
  let { findings } = report;
  while (JSON.stringify(findings).length > 900_000) findings = findings.slice(0, Math.floor(findings.length / 2));
  return { ...report, findings, truncated: report.truncated || findings.length < report.findings.length };
}

/** Fetches the program that the control plane serves now, and ends so that the service starts it. A file without its signature is refused. */
async function updated({ home, controlPlane, credentials }: Agent): Promise<Result> {
  if (!fs.existsSync(home.path('program')))
    throw new Error('This agent wasn’t installed by the install script; update it where it came from.');
  const program = await controlPlane.plain('GET', '/agent/agent.mjs');
  const signature = String((await controlPlane.plain('GET', '/agent/agent.mjs.sig')).body).trim();
  const bytes = Buffer.from(String(program.body));
  const version =
    /^export const VERSION = '([\w.-]+)';|^const VERSION = '([\w.-]+)';/m.exec(bytes.toString())?.slice(1).find(Boolean) ?? '';
  if (!isSignatureOf(credentials.control_plane_key, Buffer.from(buildStatement(version, sha256(bytes))), signature))
    throw new Error('The new program isn’t signed by the control plane. The old one stays.');
  if (home.read('program') === bytes.toString()) return { ok: true, output: { version, changed: false } };
  home.write('program', bytes);
  home.write('signature', `${signature}\n`);
  return { ok: true, output: { version, changed: true }, exit: EXIT.updated };
}

export function log(level: 'info' | 'warn' | 'error', message: string): void {
  process.stderr.write(`${new Date().toISOString()} ${level} ${message}\n`);
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
