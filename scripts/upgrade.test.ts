import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { endAll, folderOf, type RoleProcess, type RoleSettings, startRole } from '#server/testing/processes.ts';
import { until } from '#server/testing/until.ts';
import { root } from './command.ts';

// An upgrade without a pause: a gateway and a worker of the previous release serve a workspace with data while the migrations of this one are applied, then both
// releases work side by side on one database, and then the old ones stop. No call fails. The old code comes out of the history of this repository.

/** The previous release. Choose another one when this release is out. */
const PREVIOUS = '7bb08bb617c0edfdf1f715e6c9421491a8fe65e6';
const SLUG = 'playground';
const CALLERS = 6;

const git = (...args: string[]) => spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' });
const skip = git('cat-file', '-e', `${PREVIOUS}:prisma`).status !== 0 && `this clone has no commit ${PREVIOUS.slice(0, 8)}: it is shallow`;

const server = process.env.TEST_PG_URL ?? '';
const { directory, remove } = folderOf('upgrade');
const name = `u_${randomBytes(6).toString('hex')}`;
const url = server.replace(/\/postgres(\?|$)/, `/${name}$1`);
const old = path.join(directory, 'previous');
after(async () => {
  endAll();
  if (!skip) await query(`drop database if exists ${name} with (force)`, server);
  remove();
});

async function query<T extends pg.QueryResultRow>(text: string, on = url, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: on });
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** A checkout of the previous release, on the packages that are installed here: what only it needs is a development package (`lossless-json`). Its seed generates its client. */
async function checkOut(): Promise<void> {
  fs.mkdirSync(old);
  const archive = path.join(directory, 'previous.tar');
  execFileSync('git', ['-C', root, 'archive', '--output', archive, PREVIOUS]);
  execFileSync('tar', ['-x', '-f', archive, '-C', old]);
  // A folder of its own, for the locks and stamps that our scripts keep in it.
  fs.mkdirSync(path.join(old, 'node_modules'));
  for (const entry of fs.readdirSync(path.join(root, 'node_modules')).filter((one) => !one.startsWith('.')))
    fs.symlinkSync(path.join(root, 'node_modules', entry), path.join(old, 'node_modules', entry));
  fs.cpSync('server/generated/elements', path.join(old, 'server/generated/elements'), { recursive: true });
}

/** Runs a script of a checkout against the database; answers what it printed. */
async function run(at: string, args: readonly string[]): Promise<string> {
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_ENV: 'development', DATABASE_URL: url, DATA_DIR: path.join(directory, 'operator') };
  const { stdout } = await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { cwd: at, env });
  return stdout;
}

const createKey = async (at: string) =>
  (
    JSON.parse(await run(at, ['scripts/admin.ts', 'create-key', '--slug', SLUG, '--space', 'test', '--role', 'Key - Infrastructure'])) as {
      api_key: string;
    }
  ).api_key;

/**
 * What a person does on a machine of a checkout, in Test: makes a workflow that calls a route, a run of it, and a receiver that forwards to a route; or gives a
 * workflow that is there another definition. Answers with the IDs.
 */
async function act(
  at: string,
  email: string,
  workflow?: string,
): Promise<{ workflow: string; run: string; receiver: string; person: string }> {
  const script = `
    const { createWorkflow, updateWorkflow } = await import('./server/domain/workflows/service.ts');
    const { executeWorkflow } = await import('./server/domain/workflows/runs.ts');
    const { createInbound } = await import('./server/domain/inbound-webhooks/service.ts');
    const { operatorCtx } = await import('./server/domain/operator/service.ts');
    const { CAPABILITIES } = await import('./server/kernel/capabilities.ts');
    const { closeDb, db } = await import('./server/platform/db.ts');
    const { id: person } = await db().users.findFirstOrThrow({ where: { email: '${email}' } });
    const { id: tenant } = await db().tenants.findFirstOrThrow({ where: { slug: '${SLUG}' } });
    const route = await db().routes.findFirstOrThrow({ where: { tenant_id: tenant, sandbox: true, slug: 'echo' } });
    const ctx = { ...operatorCtx(tenant, 'test'), ip: null };
    ctx.actor = { type: 'member', id: person, label: '${email}', role: 'owner', reveal_secrets: true, migration_reviewer: false,
      session_id: crypto.randomUUID(), signed_in_at: new Date(), mfa_at: new Date(), capabilities: new Set(CAPABILITIES) };
    const node = (id, type, config) => ({ id, type, data: { config } });
    const definition = (path) => ({ edges: [{ id: 'e', source: 'trigger-node', target: 'call' }],
      nodes: [node('trigger-node', 'trigger', { triggerType: 'manual' }), node('call', 'route_request', { route: 'echo', method: 'GET', path })] });
    let answer;
    if (${workflow === undefined}) {
      const { id } = await createWorkflow(ctx, { name: 'by ' + crypto.randomUUID(), definition: definition('/a'), enabled: true });
      const run = await executeWorkflow(ctx, { id, input: null });
      const receiver = await createInbound(ctx, { name: 'in-' + Date.now(), format: 'github', forward_route_id: route.id });
      answer = { workflow: id, run: run.id, receiver: receiver.id, person };
    } else {
      await updateWorkflow(ctx, { id: '${workflow}', definition: definition('/b') });
      answer = { person };
    }
    await closeDb();
    console.log('answer ' + JSON.stringify(answer));
    process.exit(0);`;
  const [, json = ''] = /^answer (.*)$/m.exec(await run(at, ['--input-type=module', '-e', script])) ?? [];
  return JSON.parse(json) as Awaited<ReturnType<typeof act>>;
}

/** Who stands behind them, as this release has it. */
async function behind({ workflow, run, receiver }: { workflow: string; run: string; receiver: string }): Promise<(string | null)[]> {
  const text = `select (select authority ->> 'id' from workflows where id = $1) as workflow, (select authorities -> 0 ->> 'id' from workflow_executions where id = $2) as run,
    (select authority ->> 'id' from inbound_webhooks where id = $3) as receiver, (select made_by::text from inbound_webhooks where id = $3) as maker`;
  return Object.values((await query<Record<string, string | null>>(text, url, [workflow, run, receiver]))[0] ?? {});
}

type Call = { at: number; status: number | string; id: string };
const target = `/p/sandbox-${SLUG}`;

function call(port: number, path: string, key: string, options: { agent?: Agent; method?: string } = {}): Promise<Call> {
  return new Promise((resolve) => {
    const at = Date.now();
    const end = (status: number | string, id = '') => resolve({ at, status, id });
    const { agent = false, method = 'GET' } = options;
    const req = request({ agent, host: '127.0.0.1', port, path, method, headers: { 'x-svc-key': key } }, (res) => {
      res.on('error', (error) => end(error.message));
      res.on('end', () => end(res.statusCode ?? 0, String(res.headers['x-svc-request-id'])));
      res.resume();
    });
    req.on('error', (error) => end(error.message)).end();
  });
}

/** Callers of one gateway, one call after the other, until they are told to go. */
function startCallers(gateway: RoleProcess, key: string) {
  const calls: Call[] = [];
  let running = true;
  const callers = Array.from({ length: CALLERS }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (running) {
      calls.push(await call(gateway.ports.proxy, `${target}/echo/hello`, key, { agent }));
      await new Promise((next) => setTimeout(next, 100)); // enough to find a call that fails, and no load of its own
    }
    agent.destroy();
  });
  return {
    calls,
    /** Until so many more calls were answered. */
    more: (n: number) => {
      const wanted = calls.length + n;
      return until(() => calls.length >= wanted, `${n} more calls`, 240_000);
    },
    stop: async () => {
      running = false;
      await Promise.all(callers);
    },
  };
}

test('the migrations of this release are applied while the previous one serves, both work on one database, and no call fails', {
  skip,
}, async () => {
  await query(`create database ${name}`, server);
  await checkOut();
  const [, key = ''] = /Test key\s+(\S+)/.exec(await run(old, ['scripts/seed.ts'])) ?? [];
  assert.match(key, /^tk_test_/);
  const env = { DATABASE_URL: url, SVC_GATEWAYS: '2' };
  const before: RoleSettings = { env, directory: path.join(directory, 'old'), root: old };
  const [oldGateway, oldWorker] = await Promise.all([startRole('gateway', before), startRole('worker', before)]);
  const oldCallers = startCallers(oldGateway, key);
  await oldCallers.more(50);

  const during = oldCallers.calls.length;
  assert.match(await run(root, ['scripts/migrate.ts']), /Applied \d+ migrations/);
  assert.ok(oldCallers.calls.length > during, 'calls went on meanwhile');
  await oldCallers.more(50);

  const now: RoleSettings = { env, directory: path.join(directory, 'new') };
  const [newGateway, newWorker] = await Promise.all([startRole('gateway', now), startRole('worker', now)]);
  const newCallers = startCallers(newGateway, key);
  await Promise.all([oldCallers.more(50), newCallers.more(50)]);

  // What either release writes, both serve from; what was sealed before, both open.
  for (const at of [old, root]) {
    const fresh = await createKey(at);
    for (const { ports } of [oldGateway, newGateway])
      await until(async () => (await call(ports.proxy, `${target}/echo/hello`, fresh)).status === 200, 'a new key is let in');
  }
  for (const { ports } of [oldGateway, newGateway])
    assert.equal((await call(ports.proxy, `${target}/payments-charges/charges`, key, { method: 'POST' })).status, 200);
  await query(`update routes set enabled = false where slug = 'weather'`);
  for (const { ports } of [oldGateway, newGateway])
    await until(async () => (await call(ports.proxy, `${target}/weather/forecast`, key)).status === 404, 'a change reaches both');

  // Who wrote something on a machine of the previous release, which has no columns for it, stands behind it on machines of this one.
  const [byOld, byNew] = [await act(old, 'dana@example.com'), await act(root, 'sam@example.com')];
  assert.deepEqual((await behind(byOld))[1], byOld.person, 'a run never starts in the name of nobody');
  const all = (person: string) => [person, person, person, person];
  await until(async () => String(await behind(byOld)) === String(all(byOld.person)), 'the previous release wrote');
  assert.deepEqual(await behind(byNew), all(byNew.person));
  const { person } = await act(old, 'dana@example.com', byNew.workflow);
  await until(async () => (await behind(byNew))[0] === person, 'the previous release changed what a workflow does');

  await oldCallers.stop();
  assert.equal(await oldGateway.stop(), 0, oldGateway.log().slice(-2_000));
  assert.equal(await oldWorker.stop(), 0, oldWorker.log().slice(-2_000));
  // This release in place of the other, on its port and with its files: what the old one could not write into the tables of this release waits there.
  const inPlace = await startRole('gateway', { env, directory: before.directory, ports: oldGateway.ports });
  await newCallers.more(50);
  await newCallers.stop();
  const calls = [...oldCallers.calls, ...newCallers.calls];
  assert.deepEqual(
    calls.filter(({ status }) => status !== 200),
    [],
  );
  const ids = calls.map(({ id }) => id);
  const logged = 'select count(*)::int as n from request_logs where request_id = any($1::uuid[])';
  await until(async () => (await query<{ n: number }>(logged, url, [ids]))[0]?.n === ids.length, 'every call is in the log');

  const current = [inPlace, newGateway, newWorker];
  for (const role of current) assert.equal(await role.stop(), 0, role.log().slice(-2_000));
  const faults = current.flatMap((role) =>
    role
      .log()
      .split('\n')
      .filter((line) => /"level":(?:50|60)/.test(line)),
  );
  assert.deepEqual(faults, []);
});
