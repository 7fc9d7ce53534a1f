import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { createAuthority, createLeaves } from './authority.ts';
import { type Counters, startForwardProxy } from './forward-proxy.ts';
import type { InterceptRule, Manifest } from './protocol.ts';

// Real programs (curl, and Node's own fetch in a process of its own) through the real proxy; the service is a server that notes what it gets.

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-proxy-'));
const authority = createAuthority('test');
const caFile = path.join(folder, 'ca.pem');
fs.writeFileSync(caFile, authority.certificate);
const elsewhere = createAuthority('elsewhere');

type Noted = { method: string; url: string; headers: IncomingMessage['headers']; body: string };
const noted: Noted[] = [];
const answering = (name: string) => (req: IncomingMessage, res: http.ServerResponse) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    noted.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks).toString() });
    res.writeHead(200, { 'content-type': 'text/plain', 'x-from': name }).end(name);
  });
};
const service = http.createServer(answering('service'));
const plainUpstream = http.createServer(answering('plain upstream'));
const secureUpstream = https.createServer(
  { SNICallback: (name, done) => done(null, createLeaves(elsewhere)(name)) },
  answering('secure upstream'),
);
const portOf = async (server: http.Server | https.Server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
const [servicePort, plainPort, securePort] = [await portOf(service), await portOf(plainUpstream), await portOf(secureUpstream)];

const rule: InterceptRule = {
  match_host: 'secretsmanager.eu-west-1.amazonaws.com',
  match_path_prefix: '/',
  match_secret_ref: 'prod/db',
  secret_id: 's1',
  response_format: 'aws_sm',
};
let manifest: Manifest | undefined = {
  mode: 'intercept',
  environment: 'production',
  proxy_url: `http://127.0.0.1:${servicePort}/p/acme`,
  routes: [{ slug: 'pay', host: 'api.pay.example', base_path: '/v1', allowed_methods: null }],
  intercept_rules: [rule],
  db_listeners: [],
  etag: 'e1',
  sig: '',
};
let token: string | undefined = 'svc_ast_test';
const counters: Counters = { requests: 0, errors: 0, intercepted: 0, passed: 0, durations: [] };
const options = {
  manifest: () => manifest,
  token: () => token,
  agentId: 'svc_agent_test',
  leaf: createLeaves(authority),
  answerStore: () => ({ status: 200, contentType: 'application/x-amz-json-1.1', body: '{"SecretString":"swordfish"}' }),
  counters,
};
const proxy = await startForwardProxy(options, 0);
const proxyUrl = `http://127.0.0.1:${proxy.port}`;
after(async () => {
  await proxy.close();
  for (const server of [service, plainUpstream, secureUpstream]) {
    server.closeAllConnections();
    server.close();
  }
  fs.rmSync(folder, { recursive: true });
});

const run = (file: string, args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(file, args, { env: { ...process.env, ...env }, timeout: 20_000 }, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, out, err }),
    );
  });
const curl = (...args: string[]) => run('curl', ['-sS', '--max-time', '10', '--proxy', proxyUrl, '--cacert', caFile, ...args]);
const last = () => noted.at(-1);

test('carries curl’s call to a covered host to its route, with the agent’s credential and without a program’s claim to be one', async () => {
  const { out, err } = await curl(
    'https://api.pay.example/v1/charges/a%2Fb?x=1&x=2',
    '-H',
    'X-Svc-Agent-Token: forged',
    '-H',
    'X-Svc-Environment: other',
    '-d',
    'amount=5',
  );
  assert.equal(out, 'service', err);
  const call = last();
  assert.equal(call?.method, 'POST');
  assert.equal(call?.url, '/p/acme/pay/charges/a%2Fb?x=1&x=2');
  assert.equal(call?.body, 'amount=5');
  assert.equal(call?.headers['x-svc-agent-id'], 'svc_agent_test');
  assert.equal(call?.headers['x-svc-agent-token'], 'svc_ast_test');
  assert.equal(call?.headers['x-svc-environment'], 'production');
  assert.equal(call?.headers.host, `127.0.0.1:${servicePort}`);
});

test('carries Node’s fetch by its environment', async () => {
  const { out, err } = await run(
    process.execPath,
    ['-e', "fetch('https://api.pay.example/v1/x', { method: 'POST', body: 'b' }).then((r) => r.text()).then(console.log)"],
    { HTTPS_PROXY: proxyUrl, NODE_USE_ENV_PROXY: '1', NODE_EXTRA_CA_CERTS: caFile },
  );
  assert.equal(out.trim(), 'service', err);
  assert.equal(last()?.url, '/p/acme/pay/x');
  assert.equal(last()?.body, 'b');
});

test('passes what no route covers, without opening its TLS', async () => {
  const elsewhereCa = path.join(folder, 'elsewhere.pem');
  fs.writeFileSync(elsewhereCa, elsewhere.certificate);
  const far = `https://localhost:${securePort}/v1/secret?q=1`;
  const { out, err } = await run('curl', [
    '-sS',
    '--max-time',
    '10',
    '--proxy',
    proxyUrl,
    '--cacert',
    elsewhereCa,
    far,
    '-H',
    'Authorization: Bearer mine',
  ]);
  assert.equal(out, 'secure upstream', err);
  assert.equal(last()?.headers.authorization, 'Bearer mine');
  assert.equal(last()?.headers['x-svc-agent-token'], undefined);
  const through = await curl(far);
  assert.notEqual(through.code, 0, 'its certificate is not ours');
});

test('plain HTTP goes to its route by its path, and passes otherwise', async () => {
  assert.equal((await curl('http://api.pay.example/v1/a?b')).out, 'service');
  assert.equal(last()?.url, '/p/acme/pay/a?b');
  assert.equal((await curl(`http://127.0.0.1:${plainPort}/other//x`)).out, 'plain upstream');
  assert.equal(last()?.url, '/other//x');
  assert.equal(last()?.headers['x-svc-agent-token'], undefined);
  assert.equal(last()?.headers.host, `127.0.0.1:${plainPort}`);
});

test('covered calls fail closed without a session, and others go on', async (t) => {
  token = undefined;
  t.after(() => {
    token = 'svc_ast_test';
  });
  const before = noted.length;
  const { out } = await curl('-i', 'https://api.pay.example/v1/x');
  assert.match(out, /HTTP\/1\.1 503/);
  assert.match(out, /x-svc-error: bundle_expired/);
  assert.equal(noted.length, before);
  assert.equal((await curl(`http://127.0.0.1:${plainPort}/other`)).out, 'plain upstream');
});

test('a new manifest counts for the next call', async (t) => {
  const old = manifest;
  t.after(() => {
    manifest = old;
  });
  assert.ok(old);
  manifest = { ...old, routes: [{ slug: 'renamed', host: 'api.pay.example', base_path: '/v1' }] };
  assert.equal((await curl('https://api.pay.example/v1/x')).out, 'service');
  assert.equal(last()?.url, '/p/acme/renamed/x');
});

test('answers a secret store’s call by its rule, and only for the secret it names', async () => {
  const ask = (id: string) =>
    curl(
      'https://secretsmanager.eu-west-1.amazonaws.com/',
      '-H',
      'X-Amz-Target: secretsmanager.GetSecretValue',
      '-d',
      JSON.stringify({ SecretId: id }),
    );
  const before = noted.length;
  assert.equal((await ask('prod/db')).out, '{"SecretString":"swordfish"}');
  assert.equal(noted.length, before);
  assert.equal(counters.requests, counters.intercepted + counters.passed + 1, 'the call without a session is neither');
});

test('listens on 127.0.0.1 alone, and is no web page', async () => {
  const address = Object.values(os.networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  if (address) {
    const code = await new Promise<string | undefined>((resolve) => {
      const socket = connect(proxy.port, address);
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      socket.on('connect', () => {
        socket.destroy();
        resolve('connected');
      });
    });
    assert.equal(code, 'ECONNREFUSED');
  }
  const page = await fetch(proxyUrl);
  assert.equal(page.status, 400);
});

test('serves the accounts that it is told to, and no other', async (t) => {
  const [mine, others] = await Promise.all([
    startForwardProxy({ ...options, allowedUids: [process.getuid?.() ?? -1] }, 0),
    startForwardProxy({ ...options, allowedUids: [4_000_000] }, 0),
  ]);
  t.after(() => Promise.all([mine.close(), others.close()]));
  const through = ({ port }: { port: number }) =>
    run('curl', ['-sS', '--max-time', '5', '--proxy', `http://127.0.0.1:${port}`, `http://127.0.0.1:${plainPort}/other`]);
  assert.equal((await through(mine)).out, 'plain upstream');
  const refused = await through(others);
  assert.notEqual(refused.code, 0);
  assert.equal(refused.out, '');
});
