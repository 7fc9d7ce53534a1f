import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { freePort } from '#scripts/ports.ts';
import { certificate } from '../certificates.fixture.ts';

const binary = [process.env.FERRETDB].find((file) => file && fs.existsSync(file));

export const noFerretdb: string | false = binary === undefined ? 'needs FerretDB 1.24: say where its binary is in FERRETDB' : false;

export type FerretServer = { port: number; tlsPort: number; admin: { username: string; password: string } };

/** A throw-away FerretDB 1.24 on SQLite, with SCRAM-SHA-256, on 127.0.0.1 with and without TLS (certificate for db.example.com). */
export async function ferretServer(): Promise<FerretServer> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-ferret-'));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const { cert, key } = await certificate('db.example.com');
  fs.mkdirSync(path.join(directory, 'data'));
  fs.writeFileSync(path.join(directory, 'server.crt'), cert);
  fs.writeFileSync(path.join(directory, 'server.key'), key, { mode: 0o600 });
  const admin = { username: 'broker', password: "it's a p@ss\\word" };
  const log = fs.openSync(path.join(directory, 'log'), 'a');
  const child: ChildProcess = spawn(
    binary as string,
    [
      ...['--handler=sqlite', `--sqlite-url=file:${directory}/data/`, `--state-dir=${directory}`, '--telemetry=disable', '--debug-addr=-'],
      ...[`--listen-addr=127.0.0.1:${port}`, `--listen-tls=127.0.0.1:${tlsPort}`, '--test-enable-new-auth'],
      ...[`--listen-tls-cert-file=${directory}/server.crt`, `--listen-tls-key-file=${directory}/server.key`],
      ...[`--setup-username=${admin.username}`, `--setup-password=${admin.password}`, '--setup-database=admin'],
    ],
    { stdio: ['ignore', log, log] },
  );
  fs.closeSync(log);
  after(() => {
    child.kill('SIGKILL');
    fs.rmSync(directory, { recursive: true, force: true });
  });
  for (const late = performance.now() + 60_000; child.exitCode === null && performance.now() < late; ) {
    const client = new MongoClient(`mongodb://127.0.0.1:${port}/`, { directConnection: true, serverSelectionTimeoutMS: 500 });
    try {
      await client.db('admin').command({ hello: 1 });
      return { port, tlsPort, admin };
    } catch {
      await sleep(100);
    } finally {
      await client.close();
    }
  }
  throw new Error(`ferretdb did not start: ${fs.readFileSync(path.join(directory, 'log'), 'utf8').slice(-2_000)}`);
}
