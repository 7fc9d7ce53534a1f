import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { freePorts } from '#scripts/ports.ts';
import { startGateway, startUpstream } from '#server/gateway/gateway.fixture.ts';
import { startWeb } from '#server/gateway/v1/web.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { answer, startServer } from '../hostile-server.fixture.ts';
import type { Environment } from '../settings.ts';
import { type Ended, cli as runCli } from './cli.fixture.ts';
import { credentialsFile, readProfiles } from './profiles.ts';

// service-cli against the running service, over sockets, each test with a home of its own.

const [proxyPort = 0] = await freePorts(1);
const { directory } = await testDatabase({ SVC_GATEWAYS: '1', PLANE_PORTS: `api:1,sandbox:2,admin:3,proxy:${proxyPort}` });
await startWeb();
const { gateway } = await startGateway();
const { port } = await gateway.listen('api', 0, '127.0.0.1');
await gateway.listen('proxy', proxyPort, '127.0.0.1');
const host = `http://localhost:${port}`;
const w = await workspace();
const { text: key } = await w.key();

let homes = 0;
function newHome(): Environment {
  const home = path.join(directory, `home-${homes++}`);
  fs.mkdirSync(home);
  return { HOME: home, PATH: process.env.PATH };
}
async function signedIn(): Promise<{ env: Environment; cli: (args: readonly string[], input?: string) => Promise<Ended> }> {
  const env = newHome();
  assert.equal((await runCli(['login', '--api-key', '--host', host], { env, input: `${key}\n` })).code, 0);
  return { env, cli: (args, input) => runCli(args, { env, ...(input === undefined ? {} : { input }) }) };
}

test('an API key is read from standard input, checked, and kept where only its owner can read it', async () => {
  const { env, cli } = await signedIn();
  const file = credentialsFile(env);
  assert.equal(file, path.join(env.HOME ?? '', '.config/sallyport/credentials.json'));
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(path.dirname(file)).mode & 0o777, 0o700);
  const who = await cli(['whoami', '--json']);
  assert.deepEqual(JSON.parse(who.out), {
    workspace: `${w.tenant.name} (${w.tenant.slug})`,
    host,
    profile: w.tenant.slug,
    space: 'live',
    credential: 'API key',
  });
  fs.chmodSync(file, 0o644);
  assert.match((await cli(['whoami'])).err, /readable by others/);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal((await cli(['logout'])).code, 0);
  assert.deepEqual(readProfiles(file).profiles, {});
  assert.deepEqual((await cli(['routes', 'list'])).code, 3);
});

test('exit codes tell how a command ended', async () => {
  const { cli, env } = await signedIn();
  const codes = async (...args: string[]) => (await cli(args)).code;
  assert.equal(await codes('environments', 'list'), 0);
  assert.equal(await codes('environments', 'create', '--name', 'No Such Name'), 1);
  assert.equal(await codes('environments', 'invent'), 2);
  assert.equal(await codes('routes', 'list', '--per-page', 'many'), 2);
  assert.equal(await codes('routes', 'get', 'no-such-route'), 4);
  assert.equal(await codes('--help'), 0);
  assert.equal((await runCli(['routes', 'list'], { env: newHome() })).code, 3);
  assert.equal(
    (await runCli(['routes', 'list'], { env: { ...newHome(), SERVICE_API_KEY: 'tk_live_xxxxxxxxxxxx_wrong', SERVICE_BASE_URL: host } }))
      .code,
    3,
  );
  assert.equal(
    (await runCli(['--host', 'http://127.0.0.1:1', 'signup', 'start', '--email', 'a@example.com', '--tenant-name', 'A'], { env })).code,
    5,
  );
});

test('every operation is a command with help, and a wrong word gets a suggestion', async () => {
  const { cli } = await signedIn();
  const { operations } = JSON.parse(fs.readFileSync('sdk/generated/operations.json', 'utf8')) as {
    operations: { id: string; summary: string }[];
  };
  for (const { id } of operations) {
    const words = id.split('.').map((word) =>
      word
        .replaceAll('_', '-')
        .replace(/([a-z])([A-Z])/g, '$1-$2')
        .toLowerCase(),
    );
    assert.match((await cli([...words, '--help'])).out, new RegExp(`^Usage: service-cli ${words.join(' ')}`), id);
  }
  assert.match((await cli(['routes', 'lst'])).err, /Did you mean list/);
});

test('an object is made from flags, changed from a file, listed as a table and deleted after a yes', async () => {
  const { cli, env } = await signedIn();
  const made = await cli(['environments', 'create', '--name', 'staging', '--json']);
  const { id } = (JSON.parse(made.out) as { data: { id: string } }).data;
  const file = path.join(env.HOME ?? '', 'change.json');
  fs.writeFileSync(file, '{"display_name":"From a file","color":"#000000"}');
  const changed = await cli(['environments', 'update', id, '--data', `@${file}`, '--color', '#ffffff', '--json']);
  assert.match(changed.out, /"display_name": "From a file"[\s\S]*"color": "#ffffff"/);
  const [head, ...rows] = (await cli(['environments', 'list'])).out.split('\n');
  assert.match(head ?? '', /^NAME +ID +/);
  assert.ok(rows.some((row) => row.startsWith('staging ')));
  const unsure = await cli(['environments', 'delete', id]);
  assert.deepEqual([unsure.code, /needs --yes/.test(unsure.err)], [2, true]);
  assert.equal((await cli(['environments', 'delete', id, '--yes'])).code, 0);
});

test('--all follows pages, and structures are given as JSON', async () => {
  const { cli } = await signedIn();
  for (const i of [1, 2, 3]) assert.equal((await cli(['collections', 'create', '--name', `all-${i}`])).code, 0);
  const one = await cli(['collections', 'list', '--per-page', '1', '--json']);
  assert.equal((JSON.parse(one.out) as { data: unknown[] }).data.length, 1);
  const all = JSON.parse((await cli(['collections', 'list', '--all', '--q', 'all-', '--json'])).out) as { data: { name: string }[] };
  assert.deepEqual(all.data.map(({ name }) => name).sort(), ['all-1', 'all-2', 'all-3']);
  const route = ['routes', 'create', '--name', 'structured', '--target-base-url', 'https://example.com', '--json'];
  const made = await cli([
    ...route,
    '--inject-headers-json',
    '{"X-A":"b"}',
    '--allowed-methods',
    'GET',
    '--allowed-methods',
    'POST',
    '--no-enabled',
  ]);
  const { id } = (JSON.parse(made.out) as { data: { id: string } }).data;
  const stored = JSON.parse((await cli(['routes', 'get', id, '--json'])).out) as { data: Record<string, unknown> };
  assert.deepEqual(
    [stored.data.inject_headers_json, stored.data.allowed_methods, stored.data.enabled, stored.data.rate_limit_requests],
    [{ 'X-A': 'b' }, ['GET', 'POST'], false, null],
  );
  assert.equal((await cli([...route, '--inject-headers-json', '{'])).code, 2);
});

test('the value of a secret comes from standard input or the environment, and shows up nowhere', async () => {
  const { env, cli } = await signedIn();
  const value = 'correct horse battery staple';
  const said = [
    await cli(['secrets', 'create', '--name', 'FROM_INPUT', '--value-stdin', '--json'], `${value}\n`),
    await runCli(['secrets', 'create', '--name', 'FROM_ENV', '--value-from-env', 'HIDDEN'], { env: { ...env, HIDDEN: value } }),
    await cli(['secrets', 'create', '--name', 'FROM_INPUT', '--value-stdin'], value), // the name is taken
    await cli(['secrets', 'create', '--data', `{"value":"${value}"`]), // not JSON
    await cli(['secrets', 'create', '--name', 'NONE']),
    await cli(['secrets', 'create', '--name', 'ARGV', '--value', value]),
  ];
  assert.deepEqual(
    said.map(({ code }) => code),
    [0, 0, 1, 2, 2, 2],
  );
  assert.doesNotMatch(JSON.stringify(said), /horse/);
});

test('a call goes through the gateway, and what the upstream says is printed whatever its status', async () => {
  const { cli } = await signedIn();
  const upstream = await startUpstream((req, res, body) => {
    res
      .writeHead(req.url?.includes('teapot') ? 418 : 200, { 'content-type': 'text/plain' })
      .end(`${req.method} ${req.url} ${body} ${req.headers['x-mine']}`);
  });
  await cli(['routes', 'create', '--name', 'callable', '--target-base-url', upstream.url]);
  const done = await cli(['call', 'callable', 'v1/x?y=1', '--data', '{"a":1}', '-H', 'X-Mine: here']);
  assert.deepEqual([done.code, done.out], [0, 'POST /v1/x?y=1 {"a":1} here'], done.err);
  assert.equal(upstream.seen.at(-1)?.headers['x-svc-key'], undefined);
  const teapot = await cli(['call', 'callable', '/teapot', '-i']);
  assert.deepEqual([teapot.code, /HTTP 418/.test(teapot.out)], [1, true]);
  assert.equal((await cli(['call', 'no-such-route'])).code, 4);
  assert.equal((await cli(['call', 'callable', '/../structured/x'])).code, 2);
  assert.equal((await cli(['call', 'callable', '/%2e%2e/structured'])).code, 2);
});

test('run gives a program addresses and placeholders, and neither a credential nor a value', async () => {
  const { env, cli } = await signedIn();
  const upstream = await startUpstream((_req, res, body) => void res.end(body));
  await cli(['secrets', 'create', '--name', 'RUN_SECRET', '--value-stdin'], 'resolved-by-the-gateway');
  await cli(['routes', 'create', '--name', 'runnable', '--target-base-url', upstream.url]);
  const script = path.join(env.HOME ?? '', 'child.mjs');
  const result = path.join(env.HOME ?? '', 'result.json');
  fs.writeFileSync(
    script,
    `import fs from 'node:fs';
    const send = (url, init) => fetch(url, init).then(async (r) => [r.status, await r.text()]);
    const json = { 'content-type': 'application/json' };
    const answers = [
      await send(process.env.RUNNABLE_URL + '/x', { method: 'POST', headers: json, body: JSON.stringify({ token: process.env.RUN_SECRET }) }),
      await send(process.env.SERVICE_GATEWAY_URL + '/runnable/x', { headers: { 'x-token': process.env.RUN_SECRET } }),
      await send(new URL('/guess/runnable/x', process.env.RUNNABLE_URL)),
    ];
    fs.writeFileSync(${JSON.stringify(result)}, JSON.stringify({ answers, env: process.env }));
    process.exit(7);`,
  );
  const args = ['run', '--route', 'runnable', '--secret', 'RUN_SECRET', '--', process.execPath, script];
  const ended = await runCli(args, { env: { ...env, SERVICE_CLIENT_SECRET: 'not for children' } });
  assert.equal(ended.code, 7, ended.err);
  const { answers, env: seen } = JSON.parse(fs.readFileSync(result, 'utf8')) as {
    answers: [number, string][];
    env: Record<string, string>;
  };
  assert.equal(upstream.seen[0]?.body, '{"token":"resolved-by-the-gateway"}');
  assert.deepEqual(
    answers.map(([status]) => status),
    [200, 400, 404],
  );
  assert.equal(seen.RUN_SECRET, '{{secret:RUN_SECRET}}');
  assert.doesNotMatch(JSON.stringify(seen), new RegExp(`${key}|resolved-by|not for children`));
  assert.equal((await cli(['run', '--secret', 'NO_SUCH', '--', 'true'])).code, 4);
});

test('a credential goes only to the host that gave it', async () => {
  const { cli } = await signedIn();
  const elsewhere = await startServer(answer(200, { data: [], meta: {} }));
  const refused = await cli(['routes', 'list', '--host', elsewhere.url]);
  assert.deepEqual([refused.code, elsewhere.heard.length], [2, 0]);
});

test('a request is sent by its method and path', async () => {
  const { cli } = await signedIn();
  const made = await cli(['api', 'post', '/environments', '--data', '{"name":"by-path"}', '--json']);
  const { id } = (JSON.parse(made.out) as { data: { id: string } }).data;
  assert.equal((await cli(['api', 'GET', `/environments/${id}?x=1`])).code, 0);
  assert.equal((await cli(['api', 'DELETE', `/environments/${id}`])).code, 2);
  assert.equal((await cli(['api', 'DELETE', `/environments/${id}`, '--yes'])).code, 0);
  assert.equal((await cli(['api', 'GET', '/environments/../account'])).code, 2);
});

test('profiles are listed and chosen by name', async () => {
  const { cli, env } = await signedIn();
  await runCli(['login', '--api-key', '--host', host, '--profile', 'second'], { env, input: key });
  const listed = JSON.parse((await cli(['profiles', '--json'])).out) as { data: { name: string; current: boolean }[] };
  assert.deepEqual(
    listed.data.map(({ name, current }) => [name, current]),
    [
      [w.tenant.slug, false],
      ['second', true],
    ],
  );
  assert.equal((await cli(['profiles', 'use', w.tenant.slug])).code, 0);
  assert.match((await cli(['whoami'])).out, new RegExp(`profile +${w.tenant.slug}`));
  assert.equal((await cli(['whoami', '--profile', 'third'])).code, 3);
  assert.equal((await runCli(['login', '--api-key', '--profile', '../x'], { env, input: key })).code, 2);
  for (const misplaced of [['login', '--api-key', key], [key], ['routes', key], ['whoami', `--${key}`]]) {
    const { code, out, err } = await runCli(misplaced, { env, input: '' });
    assert.deepEqual([code, (out + err).includes(key)], [2, false], `${misplaced[0]}: a key in a wrong place is not printed back`);
  }
});

test('the installed command runs from any folder, and completes words', () => {
  const bin = path.resolve('sdk/cli/service-cli.mjs');
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [bin, ...args], { cwd: directory, encoding: 'utf8', env: newHome() as NodeJS.ProcessEnv });
  const refused = run('routes', 'list');
  assert.deepEqual([refused.status, refused.stderr], [3, 'Error: Nobody is signed in.\nRun: service-cli login\n']);
  assert.match(run('completion', 'bash').stdout, /service-cli/);
  assert.match(run('complete', '--', 'environments', '').stdout, /create\t.+/);
});
