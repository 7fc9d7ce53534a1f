import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test, { after } from 'node:test';
import { ownDatabase } from '#server/testing/database.ts';
import { databaseDoor } from '#server/testing/database-door.ts';
import { folderOf, type Ports, somePorts } from '#server/testing/processes.ts';
import { until } from '#server/testing/until.ts';
import { root } from './command.ts';

const { url } = await ownDatabase();
const { directory, remove } = folderOf('start');
after(remove);
const checkout = path.join(directory, 'checkout');

/** A copy of this checkout without a build, on the packages that are installed here. Its own folder for them holds the locks of our scripts. */
function copyCheckout(): void {
  for (const part of [
    'app',
    'server',
    'scripts',
    'sdk',
    'prisma',
    'public',
    'docs',
    'components',
    'package.json',
    'package-lock.json',
    'next.config.ts',
    'postcss.config.mjs',
  ])
    fs.cpSync(path.join(root, part), path.join(checkout, part), { recursive: true });
  fs.mkdirSync(path.join(checkout, 'node_modules'));
  for (const entry of fs.readdirSync(path.join(root, 'node_modules')).filter((one) => !one.startsWith('.')))
    fs.symlinkSync(path.join(root, 'node_modules', entry), path.join(checkout, 'node_modules', entry));
}

/** `npm start` in the copy, over a database. */
function startSystem(database: string, ports: Ports) {
  const system = spawn(process.execPath, ['scripts/start.ts'], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_ENV: 'development',
      DATABASE_URL: database,
      DATA_DIR: path.join(directory, 'data'),
      PLANE_PORTS: `api:${ports.api},sandbox:${ports.sandbox},admin:${ports.admin},proxy:${ports.proxy}`,
    },
  });
  after(() => system.kill('SIGKILL'));
  const printed: string[] = [];
  const ended = new Promise<number | null>((resolve) => system.once('exit', resolve));
  const says = new Map<string, () => void>();
  for (const stream of [system.stdout, system.stderr])
    createInterface(stream).on('line', (line) => {
      printed.push(line);
      for (const [text, resolve] of says) if (line.includes(text)) resolve();
    });
  return {
    printed,
    /** Resolves when it prints a line with this text; rejects when it ends before. */
    said: (text: string) =>
      Promise.race([
        new Promise<void>((resolve) => says.set(text, resolve)),
        ended.then((code) => assert.fail(`it ended with ${code}:\n${printed.join('\n')}`)),
      ]),
    async stop() {
      system.kill('SIGTERM');
      assert.equal(await ended, 0, printed.join('\n'));
    },
    ended,
  };
}

const ports = await somePorts();
/** What a caller of before has. */
const caller = { url: '', key: '' };

test('a person signs up and a call goes through the gateway before the dashboard is built', async () => {
  copyCheckout();
  // The build begins when this process, which holds its lock, has ended: it never does in this test.
  fs.writeFileSync(path.join(checkout, 'node_modules/.lock-.next-.made-from'), String(process.pid));
  const dashboard = `http://localhost:${ports.admin}`;
  const system = startSystem(url, ports);
  await system.said('Calls, /v1 and sign-up');

  const post = (where: string, body: object, headers: Record<string, string> = {}) =>
    fetch(dashboard + where, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: dashboard, ...headers },
      body: JSON.stringify(body),
    });
  const signedUp = await post('/auth/signup', { email: 'ada@example.com', password: 'poetical science of 1843', tenant_name: 'Engines' });
  assert.equal(signedUp.status, 200, await signedUp.clone().text());
  const cookie = signedUp.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  const me = (await (await fetch(`${dashboard}/auth/me`, { headers: { cookie } })).json()) as { csrf_token: string };
  const key = await post('/auth/starter-key', {}, { cookie, 'x-csrf-token': me.csrf_token });
  const { api_key, route_url } = (await key.json()) as { api_key: string; route_url: string };
  const routes = await fetch(`http://localhost:${ports.sandbox}/v1/routes`, { headers: { authorization: `Bearer ${api_key}` } });
  assert.equal(routes.status, 200, await routes.text());
  const call = await fetch(route_url, { headers: { 'x-svc-key': api_key } });
  assert.equal(call.status, 200);
  assert.match(await call.text(), /redacted:secret:SAMPLE_API_KEY/);

  const page = await fetch(`${dashboard}/signin`, { headers: { accept: 'text/html' } });
  assert.deepEqual([page.status, page.headers.get('retry-after')], [503, '3']);
  assert.match(await page.text(), /Building the dashboard/);
  const file = await fetch(`${dashboard}/openapi.json`);
  assert.deepEqual([file.status, ((await file.json()) as { error: { type: string } }).error.type], [503, 'dependency_unavailable']);
  assert.equal((await fetch(`http://localhost:${ports.api}/readyz`)).status, 200, 'load balancers may send calls');
  const ofPages = await fetch(`${dashboard}/readyz`);
  const { parts } = (await ofPages.json()) as { parts: object };
  assert.deepEqual([ofPages.status, Object.keys(parts)], [503, ['dashboard']]);
  assert.ok(!system.printed.some((line) => line.includes('Sallyport is ready')), 'not everything is there yet');

  Object.assign(caller, { url: route_url, key: api_key });
  await system.stop();
});

test('a start without the database serves calls from the configuration on disk, says so, and brings up the rest when it is there', async () => {
  const door = await databaseDoor();
  door.shut();
  const system = startSystem(door.url, ports);
  const dashboard = `http://localhost:${ports.admin}`;
  const call = async () => (await fetch(caller.url, { headers: { 'x-svc-key': caller.key } }).catch(() => undefined))?.status;
  await Promise.race([until(async () => (await call()) === 200), system.ended.then(() => assert.fail(system.printed.join('\n')))]);
  assert.ok(system.printed.some((line) => line.startsWith('The database is not responding: ') && line.includes('DATABASE_URL')));
  const { ready, status, since, parts } = await until(async () => {
    const answer = await fetch(`http://localhost:${ports.proxy}/readyz`);
    const told = (await answer.json()) as { status: string; since: string; parts: Record<string, { effect: string }> };
    return 'database' in told.parts && 'web' in told.parts && { ...told, ready: answer };
  });
  assert.deepEqual([ready.status, status], [200, 'degraded']);
  assert.ok(Date.parse(since) <= Date.now());
  assert.match(parts.database?.effect ?? '', /API, OAuth and SCIM are unavailable\. Calls are served from the configuration of 20/);
  const ofPages = await fetch(`${dashboard}/readyz`);
  assert.deepEqual([ofPages.status, ofPages.headers.get('retry-after')], [503, '5']);
  const read = await fetch(`http://localhost:${ports.sandbox}/v1/routes`, { headers: { authorization: `Bearer ${caller.key}` } });
  assert.deepEqual([read.status, read.headers.get('retry-after')], [503, '5']);
  assert.match(((await read.json()) as { error: { message: string } }).error.message, /can't reach its database/);
  const page = await fetch(`${dashboard}/signin`, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 503);
  assert.match(await page.text(), /The database can’t be reached/);

  // It comes back and goes again, at each moment of what is asked of it before the rest can start.
  for (let connections = 1; connections <= 8; connections++) {
    door.open(connections);
    await Promise.race([until(door.isFull), system.ended.then(() => assert.fail(system.printed.join('\n')))]);
    door.shut();
    assert.equal(await call(), 200, system.printed.join('\n'));
  }
  const followed = system.said('Calls, /v1 and sign-up');
  door.open();
  await followed;
  assert.equal(
    (await fetch(`http://localhost:${ports.sandbox}/v1/routes`, { headers: { authorization: `Bearer ${caller.key}` } })).status,
    200,
  );
  await until(async () => !(await (await fetch(`http://localhost:${ports.proxy}/readyz`)).text()).includes('database'));
  assert.equal(await call(), 200);
  await system.stop();
});

test('a start without the database and without a configuration ends with words', async () => {
  fs.rmSync(path.join(directory, 'data/snapshot'), { recursive: true });
  const system = startSystem('postgresql://postgres@127.0.0.1:1/x', ports);
  assert.equal(await system.ended, 1);
  assert.match(system.printed.join('\n'), /^The database is not responding: .+ Check DATABASE_URL\.$/m);
});
