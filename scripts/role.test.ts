import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '#server/testing/until.ts';
import { isAlive } from './command.ts';
import { keepRunning } from './role.ts';

function program(t: TestContext, source: string): { file: string; folder: string } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-role-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'role.mjs');
  fs.writeFileSync(file, source);
  return { file, folder };
}

const pulse = `import fs from 'node:fs'; fs.appendFileSync(process.argv[2], process.pid + '\\n');`;
/** Whole lines only: a pid read from a half-written file is another process's, and 0 is all of ours. */
const lines = (file: string) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').slice(0, -1) : []);
const env = process.env;

test('a role killed with SIGKILL is running again at once', async (t) => {
  const { file, folder } = program(t, `${pulse} setInterval(() => {}, 1000);`);
  const starts = path.join(folder, 'starts');
  const role = keepRunning({ name: 'r', args: [file, starts], env, onHopeless: () => assert.fail('one crash is not hopeless') });
  t.after(() => role.stop(1000));
  await until(() => lines(starts).length === 1);
  process.kill(Number(lines(starts)[0]), 'SIGKILL');
  await until(() => lines(starts).length === 2);
});

test('a role that never stays up is tried again ever more slowly, and reported', async (t) => {
  const { file, folder } = program(t, `${pulse} process.exit(1);`);
  const starts = path.join(folder, 'starts');
  let hopeless = 0;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const role = keepRunning({ name: 'r', args: [file, starts], env, onHopeless: () => hopeless++ });
  for (const pause of [250, 500, 1_000]) {
    await until(() => role.pid() === undefined);
    t.mock.timers.tick(pause - 1);
    assert.equal(role.pid(), undefined);
    assert.equal(hopeless, 0);
    t.mock.timers.tick(1);
    assert.notEqual(role.pid(), undefined);
  }
  await until(() => hopeless === 1);
  await role.stop(1000);
  t.mock.timers.tick(60_000);
  assert.equal(role.pid(), undefined, 'a stopped role is not started again');
  assert.equal(lines(starts).length, 4);
});

test('a role that ignores the request to stop is ended after its time', async (t) => {
  const { file, folder } = program(t, `process.on('SIGTERM', () => {}); ${pulse} setInterval(() => {}, 1000);`);
  const starts = path.join(folder, 'starts');
  const role = keepRunning({ name: 'r', args: [file, starts], env, onHopeless: () => {} });
  await until(() => lines(starts).length === 1);
  await role.stop(300);
  assert.ok(!isAlive(Number(lines(starts)[0])));
});

test('no role outlives a supervisor that was killed', async (t) => {
  const { file, folder } = program(t, `${pulse} setInterval(() => {}, 1000);`);
  const starts = path.join(folder, 'starts');
  const keeper = `import { keepRunning } from ${JSON.stringify(import.meta.resolve('./role.ts'))};
    keepRunning({ name: 'r', args: ${JSON.stringify([file, starts])}, env: process.env, onHopeless() {} });`;
  const supervisor = spawn(process.execPath, ['--input-type=module', '-e', keeper], { stdio: 'ignore' });
  await until(() => lines(starts).length === 1);
  supervisor.kill('SIGKILL');
  await until(() => !isAlive(Number(lines(starts)[0])));
});
