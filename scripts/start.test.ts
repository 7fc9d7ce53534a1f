import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test, { after } from 'node:test';
import { ownDatabase } from '#server/testing/database.ts';
import { folderOf, somePorts } from '#server/testing/processes.ts';
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

test('a person signs up and a call goes through the gateway before the dashboard is built', async () => {
  copyCheckout();
  // The build begins when this process, which holds its lock, has ended: it never does in this test.
  fs.writeFileSync(path.join(checkout, 'node_modules/.lock-.next-.made-from'), String(process.pid));
  const ports = await somePorts();
  const dashboard = `http://localhost:${ports.admin}`;
  const system = spawn(process.execPath, ['scripts/start.ts'], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_ENV: 'development',
      DATABASE_URL: url,
      DATA_DIR: path.join(directory, 'data'),
      PLANE_PORTS: `api:${ports.api},sandbox:${ports.sandbox},admin:${ports.admin},proxy:${ports.proxy}`,
    },
  });
  after(() => system.kill('SIGKILL'));
  const printed: string[] = [];
  const ended = new Promise<number | null>((resolve) => system.once('exit', resolve));
  const canCall = Promise.withResolvers<void>();
  for (const stream of [system.stdout, system.stderr])
    createInterface(stream).on('line', (line) => {
      printed.push(line);
      if (line.includes('Calls, /v1 and sign-up')) canCall.resolve();
    });
  await Promise.race([canCall.promise, ended.then((code) => assert.fail(`it ended with ${code}:\n${printed.join('\n')}`))]);

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
  assert.ok(!printed.some((line) => line.includes('Sallyport is ready')), 'not everything is there yet');

  system.kill('SIGTERM');
  assert.equal(await ended, 0, printed.join('\n'));
});
