import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '#scripts/ports.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import type { Counters } from '../counters.ts';
import { COUNTER_DEADLINE_MS } from '../redis.ts';

const program = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);

/** Why the tests that need a real Redis are skipped on this machine, or false. */
export const withoutRedis = program === undefined && 'neither redis-server nor valkey-server is installed here';

/** A Redis on a free port, or on a given one; nothing of it is kept. */
export async function startRedis(port?: number) {
  const free = port ?? (await freePort());
  const directory = mkdtempSync(path.join(tmpdir(), 'sallyport-redis-'));
  const child = spawn(program as string, [
    '--port',
    String(free),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    directory,
  ]);
  onFileEnd(() => {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => text.includes('eady to accept connections') && resolve());
    child.once('exit', () => reject(new Error('redis did not start')));
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  return { url: `redis://127.0.0.1:${free}`, port: free, child, stop };
}

/** Waits until these counters ask Redis: opening them waits a second for it and no longer. */
export async function joined(counters: Counters): Promise<Counters> {
  const probe = { key: 'joined', limit: 1_000_000, windowMs: 60_000, burst: null };
  await until(async () => (await counters.take([probe], Date.now()))[0]?.limit === probe.limit, 'Redis counts');
  return counters;
}

/**
 * Calls wait for a store as long as it takes, until the test ends or says otherwise. On a busy machine a store that is there answers after the deadline now
 * and then: a call is then decided without it, and nobody knows whether the store counted it, too. `butFirst` waits end as in the product.
 */
export function waitForStore(t: TestContext, { butFirst = 0 } = {}): { noLonger(): void } {
  let seen = 0;
  const after = globalThis.setTimeout;
  const patient = (work: () => void, ms?: number) => after(work, ms === COUNTER_DEADLINE_MS && ++seen > butFirst ? 60_000 : ms);
  const { mock } = t.mock.method(globalThis, 'setTimeout', patient as typeof setTimeout);
  return { noLonger: () => mock.restore() };
}
