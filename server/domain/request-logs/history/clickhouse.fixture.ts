import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A Python that has chDB: `pip install chdb` in an environment of its own. */
const PYTHON = process.env.CHDB_PYTHON;
export const skip = PYTHON ? false : 'CHDB_PYTHON names no Python with chDB';

export const USER = 'sallyport';
export const PASSWORD = "it's {secret}";
const PROGRAM = fileURLToPath(new URL('./chdb.fixture.py', import.meta.url));

/** ClickHouse's engine behind its HTTP interface, on loopback. It can be stopped and started again on the same port, with what it had. */
export async function startClickHouse() {
  const folder = mkdtempSync(path.join(tmpdir(), 'chdb-'));
  let port = 0;
  let child: ChildProcess | undefined;
  const start = async () => {
    if (child) return;
    const started = spawn(String(PYTHON), [PROGRAM, USER, PASSWORD, String(port), folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    child = started;
    for await (const line of createInterface(started.stdout)) {
      port = Number(line);
      break;
    }
    if (!port) throw new Error('chDB did not start');
  };
  const stop = async () => {
    const ending = child;
    child = undefined;
    if (!ending || ending.exitCode !== null) return;
    const ended = once(ending, 'exit');
    ending.stdin?.end();
    await ended;
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    start,
    stop,
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
