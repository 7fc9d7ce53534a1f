import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { freePort } from '#scripts/ports.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';

// A gateway in a process of its own, as the supervisor starts it, over the database and in the folder of this test file: one that can be killed.

export type GatewayProcess = {
  readonly port: number;
  /** Its log so far, a line an element. */
  lines(): string[];
  /** Resolves when it has ended, by itself or not. */
  readonly ended: Promise<unknown>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when it has ended. */
  stop(): Promise<void>;
};

/** Resolves when /readyz answers `ready`. `shell` is run before it in the same shell, for limits of the process. */
export async function startGatewayProcess(
  settings: Record<string, string> = {},
  { shell = '', ready = 200 }: { shell?: string; ready?: number } = {},
): Promise<GatewayProcess> {
  const port = await freePort();
  const own = {
    PLANE_PORTS: `proxy:${port}`,
    SALLYPORT_ROLES: 'gateway',
    LOG_LEVEL: 'info',
    WEB_SOCKET: path.join(process.env.DATA_DIR ?? '', `run-${port}`, 'web.sock'),
  };
  const args = ['--disable-warning=ExperimentalWarning', 'server/gateway/main.ts'];
  const child: ChildProcess = spawn('/bin/sh', ['-c', `${shell}\nexec "$@"`, 'sh', process.execPath, ...args], {
    env: { ...process.env, ...own, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      text += bytes;
    });
  const ended = once(child, 'exit');
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  onFileEnd(() => end('SIGKILL'));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`The gateway ended:\n${text}`);
    return (await statusOf(port, '/readyz')) === ready;
  }).catch((error: unknown) => {
    throw new Error(`${error}\n${text}`);
  });
  return { port, ended, lines: () => text.split('\n').filter(Boolean), kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}

/** Null without an answer. */
const statusOf = (port: number, target: string): Promise<number | null> =>
  new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: target, agent: false }, (res) => {
      res.resume();
      resolve(res.statusCode ?? null);
    }).on('error', () => resolve(null));
  });

/** Callers that call one after another, and the IDs of the calls whose answers they have whole. */
export function callers(n: number, port: number, host: string, target: string, key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: n });
  const answered: string[] = [];
  const statuses = new Map<number, number>();
  let running = true;
  const call = () =>
    new Promise<void>((resolve) => {
      const headers = { host: `${host}.localhost:${port}`, 'x-svc-key': key };
      get({ host: '127.0.0.1', port, path: target, agent, headers }, (res) => {
        res.resume();
        res.on('error', () => resolve());
        res.on('end', () => {
          statuses.set(res.statusCode ?? 0, (statuses.get(res.statusCode ?? 0) ?? 0) + 1);
          if (res.complete) answered.push(String(res.headers['x-svc-request-id']));
          resolve();
        });
      }).on('error', () => setTimeout(resolve, 5));
    });
  const loops = Array.from({ length: n }, async () => {
    while (running) await call();
  });
  return {
    answered,
    statuses,
    async stop() {
      running = false;
      await Promise.all(loops);
      agent.destroy();
    },
  };
}
