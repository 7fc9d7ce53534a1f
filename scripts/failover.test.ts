import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { endAll, folderOf } from '#server/testing/processes.ts';
import { until } from '#server/testing/until.ts';
import type { Database } from './database.ts';
import { type Answer, send, signUp, startInstallation } from './installation.fixture.ts';
import { startAddress, startReplicas } from './replicas.fixture.ts';

// A whole installation while PostgreSQL moves to another server: nothing is restarted, each answer is a success or says "try again", and all of it goes on.

const { directory, remove } = folderOf(`test-${process.pid}-failover`);
const { primary, standby } = await startReplicas(directory);
const address = await startAddress(primary);
const upstream = createServer((_, res) => res.end('{}'));
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
after(async () => {
  endAll();
  upstream.close();
  address.close();
  await Promise.all([primary.stop(), standby.stop()]);
  remove();
});

async function on<T extends pg.QueryResultRow>(server: Database, text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: server.url('sallyport') });
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Connections of the service to a server. */
const connected = (server: Database) =>
  on<{ application_name: string }>(
    server,
    "select application_name from pg_stat_activity where datname = 'sallyport' and pid <> pg_backend_pid() and backend_type = 'client backend'",
  );

const running = await startInstallation(address.url, directory);
const pids = () => running.roles.map((role) => role.pid());
const first = pids();
const { slug, key } = await signUp(running, 'failover');
const api = `${running.sandbox}/v1`;
const target = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
const route = await send(`${api}/routes`, { key, body: { name: 'Orders', target_base_url: target } });
const environments = (await send(`${api}/environments`, { key })).body.data as { id: string }[];
const called = () => send(`${running.proxy}/p/sandbox-${slug}/orders`, { key });
await until(async () => (await called()).status === 200, 'the gateway serves the route');

let made = 0;
/** What callers of each plane do. */
const probes = {
  call: called,
  write: () => send(`${api}/collections`, { key, body: { name: `c-${made++}` } }),
  read: () => send(`${api}/collections`, { key }),
  hot: () => send(`${api}/environments/${environments[0]?.id}`, { key }),
  signIn: () =>
    send(`${running.admin}/auth/magic/start`, { headers: { origin: running.admin }, body: { email: 'nobody@failover.example' } }),
  token: () =>
    fetch(`${running.sandbox}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: '00000000-0000-4000-8000-000000000000',
        client_secret: 'x',
      }),
    }).then(({ status, headers }) => ({ status, headers })),
};
type Probe = keyof typeof probes;
/** Without an outage. An unknown client of OAuth is refused after a look-up. */
const USUAL: Record<Probe, readonly number[]> = {
  call: [200],
  write: [201],
  read: [200],
  hot: [200],
  signIn: [200, 202, 429],
  token: [401, 429],
};

type Told = { probe: Probe; status: number; retryAfter: string | null; id: string | null; requestId: string | null };

/** Calls all planes until stopped, one call after the other each, and keeps the answers. */
function startCallers(t: TestContext) {
  const answers: Told[] = [];
  let going = true;
  const callers = (Object.keys(probes) as Probe[]).map(async (probe) => {
    while (going) {
      const { status, headers, body }: Partial<Answer> & Pick<Answer, 'status' | 'headers'> = await probes[probe]().catch(() => ({
        status: 0,
        headers: new Headers(),
      }));
      const id = probe === 'write' && status === 201 ? ((body?.data as { id: string } | undefined)?.id ?? null) : null;
      answers.push({ probe, status, id, retryAfter: headers.get('retry-after'), requestId: headers.get('x-svc-request-id') });
      await sleep(probe === 'signIn' || probe === 'token' ? 1_000 : 50);
    }
  });
  const stop = async () => {
    going = false;
    await Promise.all(callers);
  };
  t.after(stop);
  return { answers, stop };
}

/** Each answer was the usual one, or 503 with a time to wait; calls of the data plane are answered from what the gateway has. */
function assertHonest(answers: readonly Told[]): void {
  const odd = answers.filter(
    ({ probe, status, retryAfter }) => !USUAL[probe].includes(status) && (probe === 'call' || status !== 503 || Number(retryAfter) < 1),
  );
  assert.deepEqual(odd, []);
}

const refused = (answers: readonly Told[], probe: Probe) => answers.some((answer) => answer.probe === probe && answer.status === 503);

/** What was acknowledged is there, once: changes and the log of calls. */
async function assertKept(answers: readonly Told[], server: Database): Promise<void> {
  const made = answers.flatMap(({ id }) => id ?? []);
  assert.ok(made.length > 0);
  assert.equal((await on(server, 'select from collections where id = any($1)', [made])).length, made.length);
  const calls = answers.flatMap(({ probe, requestId }) => (probe === 'call' && requestId) || []);
  const logged = () => on(server, 'select from request_logs where request_id = any($1)', [calls]);
  await until(async () => (await logged()).length >= calls.length, 'the calls are logged');
  assert.equal((await logged()).length, calls.length);
}

/** A job that the worker takes from the queue of that server. */
async function assertJobsRun(server: Database): Promise<void> {
  await on(server, "select enqueue_job('sweep_hourly_leases', '{}', null, 'failover-test', 3)");
  const waiting = () => on(server, "select from graphile_worker.jobs where key = 'failover-test'");
  await until(async () => (await waiting()).length === 0, 'the worker runs the job');
}

test('when the primary takes no changes any more and another server does, all processes move to it by themselves', async (t) => {
  const callers = startCallers(t);
  await on(primary, 'alter system set default_transaction_read_only = on');
  await on(primary, 'select pg_reload_conf()');
  await until(() => refused(callers.answers, 'write'), 'changes are refused');
  const last = await probes.write();
  assert.deepEqual([last.status, last.body.error.type, last.headers.get('retry-after')], [503, 'dependency_unavailable', '5']);

  const [{ at } = { at: '' }] = await on<{ at: string }>(primary, 'select pg_current_wal_lsn()::text as at');
  await until(
    async () => (await on<{ caught: boolean }>(standby, `select pg_last_wal_replay_lsn() >= '${at}'::pg_lsn as caught`))[0]?.caught,
  );
  await on(standby, 'select pg_promote()');
  address.leadTo(standby);
  await until(async () => (await probes.write()).status === 201, 'changes are made on the new primary');
  await until(async () => (await connected(primary)).length === 0, 'no connection is left to the old primary');
  await until(
    async () => (await connected(standby)).some(({ application_name }) => application_name === 'sallyport-listen'),
    'announcements are heard on the new primary',
  );
  await callers.stop();
  assertHonest(callers.answers);
  assert.deepEqual(pids(), first, 'no process was restarted');

  await assertKept(callers.answers, standby);
  await assertJobsRun(standby);
  const id = (route.body.data as { id: string }).id;
  assert.equal((await send(`${api}/routes/${id}`, { method: 'PATCH', key, body: { enabled: false } })).status, 200);
  await until(async () => (await called()).status === 404, 'the gateway hears of a change');
  assert.equal((await send(`${api}/routes/${id}`, { method: 'PATCH', key, body: { enabled: true } })).status, 200);
  await until(async () => (await called()).status === 200, 'and of the next');
});

test('when the server ends and starts again, callers are told to try again meanwhile, and all of it goes on', async (t) => {
  const callers = startCallers(t);
  await standby.stop();
  for (const probe of ['write', 'read', 'hot', 'signIn', 'token'] as const)
    await until(() => refused(callers.answers, probe), `${probe} is refused`);
  await standby.revive();
  await until(async () => (await probes.write()).status === 201, 'changes are made again');
  await callers.stop();
  assertHonest(callers.answers);
  assert.deepEqual(pids(), first, 'no process was restarted');
  await assertKept(callers.answers, standby);
  await assertJobsRun(standby);
});
