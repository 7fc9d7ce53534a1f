import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '#scripts/ports.ts';
import { onFileEnd } from '#server/testing/file-end.ts';

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
