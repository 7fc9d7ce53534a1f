import http from 'node:http';
import { expect, test } from '@playwright/test';
import pg from 'pg';
import { type OwnSystem, startOwnSystem } from './isolated-system.ts';
import { until } from './running-system.ts';

/** What health checks, pages and the log say while the database is away, takes no changes, and while the web process hangs. The system is this file's own. */
test.describe.configure({ mode: 'serial' });

const person = { email: 'ada@outages.example', password: 'poetical science of 1843' };
let system: OwnSystem;
let cookie = '';
let page = '';

test.beforeAll(async () => {
  system = await startOwnSystem();
  await system.command(['create-tenant', '--slug', 'outages', '--owner-email', person.email, '--owner-password', person.password]);
  const signedIn = await fetch(`${system.admin}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: system.admin },
    body: JSON.stringify(person),
  });
  expect(signedIn.status).toBe(200);
  cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  page = `${system.admin}/outages/live`;
});
test.afterAll(() => system?.remove());

const opened = (url = page, method = 'GET') => fetch(url, { method, headers: { cookie, accept: 'text/html', origin: system.admin } });

/** The answer of /readyz for a host, as a probe may name any. */
const readyz = (host: string) =>
  new Promise<{ status: number; body: { status: string; since?: string; parts?: Record<string, { since: string }> } }>(
    (resolve, reject) => {
      const { port } = new URL(system.admin);
      const asked = http.get({ host: '127.0.0.1', port, path: '/readyz', headers: { host } }, async (answer) => {
        const text = Buffer.concat(await answer.toArray()).toString();
        resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) });
      });
      asked.on('error', reject);
    },
  );

test('a system that is ready says so on the address of the dashboard, and to a probe that names no host of its own', async () => {
  for (const host of [new URL(system.admin).host, 'nobody.example']) {
    const { status, body } = await readyz(host);
    expect([host, status, body]).toEqual([host, 200, { status: 'ok' }]);
  }
  expect((await opened()).status).toBe(200);
});

test('while the database is away a page says so with 503, and the log stays one line a minute of JSON', async () => {
  const before = system.log().length;
  system.door?.shut();
  for (let load = 0; load < 5; load++) {
    const answer = await opened();
    const text = await answer.text();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(text).toContain('The database can’t be reached');
    expect(text).toContain('<meta http-equiv="refresh" content="5">');
  }
  const lines = system.log().slice(before).trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  expect(lines.filter((line) => line.includes('a page of the dashboard failed'))).toHaveLength(1);
  system.door?.open();
  await until('pages are served again', async () => (await opened()).status === 200);
});

test('while the database takes no changes, pages are read for as long as one likes', async () => {
  const client = new pg.Client({ connectionString: system.databaseUrl });
  await client.connect();
  try {
    await client.query('set default_transaction_read_only = off');
    // What is only written once in a while is due.
    await client.query("update sessions set last_seen_at = now() - interval '5 minutes'");
    await client.query("update memberships set last_active_at = now() - interval '1 day'");
    const { rows } = await client.query<{ name: string }>('select current_database() as name');
    const set = async (value: string) => {
      await client.query(`alter database ${rows[0]?.name} ${value}`);
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    };
    await set('set default_transaction_read_only = on');
    await until('pages are served', async () => (await opened()).status === 200);
    for (let load = 0; load < 5; load++) expect((await opened()).status).toBe(200);
    await set('reset default_transaction_read_only');
  } finally {
    await client.end();
  }
});

test('a web process that hangs is known within seconds: what reads is 503, and of a change nobody claims that it was not made', async () => {
  const pid = system.pid('web') ?? 0;
  process.kill(pid, 'SIGSTOP');
  const [read, change] = await Promise.all([opened(`${system.admin}/auth/me`), opened(`${system.admin}/auth/logout`, 'POST')]);
  const told = await readyz(new URL(system.admin).host);
  process.kill(pid, 'SIGCONT');
  expect([read.status, change.status, change.headers.get('retry-after')]).toEqual([503, 503, '5']);
  expect(await change.text()).toContain('may or may not have been made');
  expect([told.status, Object.keys(told.body.parts ?? {})]).toEqual([503, ['web']]);
  await until('it is ready again', async () => (await readyz(new URL(system.admin).host)).status === 200);
});
