import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { EnvError, parseEnv } from './env.ts';

const problemsOf = (source: Record<string, string>): readonly string[] => {
  try {
    parseEnv(source);
  } catch (error) {
    assert.ok(error instanceof EnvError);
    return error.problems;
  }
  return [];
};

test('with nothing set it describes a local installation on ports 4000 to 4003', () => {
  const env = parseEnv({});
  assert.equal(env.NODE_ENV, 'development');
  assert.deepEqual(env.PLANE_PORTS, { api: 4000, sandbox: 4001, admin: 4002, proxy: 4003 });
  assert.equal(env.PUBLIC_API_URL, 'http://localhost:4000');
  assert.equal(env.PUBLIC_SANDBOX_API_URL, 'http://localhost:4001');
  assert.equal(env.PUBLIC_ADMIN_URL, 'http://localhost:4002');
  assert.equal(env.PUBLIC_HOOKS_URL, 'http://localhost:4000/hooks');
  assert.equal(env.WEBAUTHN_RP_ID, 'localhost');
  assert.equal(env.BIND_ADDRESS, '127.0.0.1');
  assert.equal(env.PROXY_PATH_MODE, true);
  assert.deepEqual(env.SALLYPORT_ROLES, ['gateway', 'web', 'worker']);
  assert.equal(env.DEFAULT_PLAN, 'enterprise');
  assert.ok(Object.isFrozen(env));
});

test('a real host name asks for one port by Host, on all interfaces, without the path mode', () => {
  const env = parseEnv({ PROXY_BASE_HOST: 'Gate.Example.com', PUBLIC_ADMIN_URL: 'https://admin.gate.example.com/' });
  assert.deepEqual(env.PLANE_PORTS, {});
  assert.equal(env.PROXY_BASE_HOST, 'gate.example.com');
  assert.equal(env.BIND_ADDRESS, '0.0.0.0');
  assert.equal(env.PROXY_PATH_MODE, false);
  assert.equal(env.PUBLIC_ADMIN_URL, 'https://admin.gate.example.com');
  assert.equal(env.WEBAUTHN_RP_ID, 'example.com');
});

test('public addresses follow the plane ports, and an empty PLANE_PORTS asks for one port', () => {
  assert.equal(parseEnv({ PLANE_PORTS: 'api:5000,admin:5002' }).PUBLIC_ADMIN_URL, 'http://localhost:5002');
  assert.deepEqual(parseEnv({ PLANE_PORTS: '' }).PLANE_PORTS, {});
});

test('every malformed value is named in one list, and no value is repeated', () => {
  const secret = 'c2hvcnQtc2VjcmV0';
  const problems = problemsOf({
    MASTER_KEY_B64: secret,
    PORT: '70000',
    PLANE_PORTS: 'api:1,api:2',
    TRUSTED_PROXIES: '10.0.0.0/8,nope',
    SALLYPORT_ROLES: 'gatway',
  });
  assert.deepEqual(problems.map((problem) => problem.split(' ')[0]).sort(), [
    'MASTER_KEY_B64',
    'PLANE_PORTS',
    'PORT',
    'SALLYPORT_ROLES',
    'TRUSTED_PROXIES',
  ]);
  assert.ok(!problems.join('\n').includes(secret));
});

for (const [name, value] of [
  ['PUBLIC_API_URL', 'https://user:pw@api.example.com'],
  ['PUBLIC_API_URL', 'https://api.example.com/v1'],
  ['PUBLIC_ADMIN_URL', 'javascript:alert(1)'],
  ['GEOIP_DB_PATH', '/var/lib/GeoIP/GeoLite2-City.tar.gz'],
  ['DATABASE_URL', 'mysql://localhost/x'],
  ['REDIS_URL', 'http://localhost'],
  ['PROXY_BASE_HOST', 'example.com:443'],
  ['PROXY_BASE_HOST', 'exa_mple.com'],
  ['TRUSTED_PROXIES', '10/8'],
  ['TRUSTED_PROXIES', '0x7f000001'],
  ['UPSTREAM_PRIVATE_ALLOWLIST', '127.0.0.0/33'],
  ['UPSTREAM_PRIVATE_ALLOWLIST', '127.0.0.1:70000'],
  ['MASTER_KEY_B64', Buffer.alloc(31, 7).toString('base64')],
  ['MASTER_KEY_B64', Buffer.alloc(32, 250).toString('base64url')],
  ['ALLOW_HTTP_UPSTREAM', 'yes'],
  ['MANIFEST_TTL_SECONDS', '5'],
  ['SIGNUPS_PER_HOUR', '-1'],
  ['NEXTAUTH_SECRET', 'short'],
  ['BIND_ADDRESS', 'localhost'],
] as const) {
  test(`${name}=${value} is refused`, () => assert.match(problemsOf({ [name]: value })[0] ?? '', new RegExp(`^${name} `)));
}

test('ranges of the operator are canonical, with optional ports', () => {
  const env = parseEnv({
    UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8, 10.1.2.3:9000,[fd00::/8]:443,::1',
    TRUSTED_PROXIES: '10.0.0.1,fd00::/8',
  });
  assert.deepEqual(env.UPSTREAM_PRIVATE_ALLOWLIST, [
    { cidr: '127.0.0.0/8', port: undefined },
    { cidr: '10.1.2.3/32', port: 9000 },
    { cidr: 'fd00::/8', port: 443 },
    { cidr: '::1/128', port: undefined },
  ]);
  assert.deepEqual(env.TRUSTED_PROXIES, ['10.0.0.1/32', 'fd00::/8']);
});

test('the OTLP endpoint of one signal is whole, that of both gets a path, and without any nothing is exported', () => {
  assert.equal(parseEnv({}).OTLP, undefined);
  const both = parseEnv({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }).OTLP;
  assert.deepEqual([both?.traces, both?.metrics], ['http://collector:4318/v1/traces', 'http://collector:4318/v1/metrics']);
  assert.deepEqual([both?.sampler, both?.share, both?.every_ms], ['parentbased_traceidratio', 0.01, 60_000]);
  const one = parseEnv({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in' }).OTLP;
  assert.deepEqual([one?.traces, one?.metrics], ['https://traces.example/in', undefined]);
  assert.equal(parseEnv({ OPS_OTLP_ENDPOINT: 'http://c:4318' }).OTLP?.traces, 'http://c:4318/v1/traces');
  assert.equal(parseEnv({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }).OTLP, undefined);
  for (const share of ['1.5', '-1', '1e-3', 'x']) assert.match(problemsOf({ OTEL_TRACES_SAMPLER_ARG: share })[0] ?? '', /from 0 to 1/);
});

test('production refuses test doubles and keys that stand in examples', () => {
  const fixed = Buffer.from(Uint8Array.from({ length: 32 }, (_, index) => index)).toString('base64');
  assert.equal(problemsOf({ NODE_ENV: 'production', SVC_TEST_MODE: '1' }).length, 1);
  assert.equal(problemsOf({ NODE_ENV: 'production', MASTER_KEY_B64: fixed }).length, 1);
  assert.equal(problemsOf({ MASTER_KEY_B64: fixed, SVC_TEST_MODE: '1' }).length, 0);
  assert.equal(problemsOf({ NODE_ENV: 'production', SALLYPORT_MODE: 'development', SVC_TEST_MODE: '1' }).length, 0);
});

test('a driver that is not there yet, and half of a pair of settings, are refused', () => {
  const kms = { MASTER_KMS_PROVIDER: 'aws', MASTER_KMS_KEY_REF: 'x' };
  for (const given of [kms, { MASTER_KMS_PROVIDER: 'aws' }, { MASTER_KMS_KEY_REF: 'x' }])
    assert.match(problemsOf({ ...given } as Record<string, string>)[0] ?? '', /not available in this release/);
  const stripe = { BILLING_DRIVER: 'stripe', STRIPE_SECRET_KEY: 'x', STRIPE_WEBHOOK_SECRET: 'x', STRIPE_PRICES: 'pro:month=price_1' };
  assert.deepEqual(problemsOf(stripe), []);
  for (const name of ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICES'])
    assert.deepEqual(problemsOf({ ...stripe, [name]: '' }), [`${name} is required when BILLING_DRIVER is stripe`]);
  for (const STRIPE_PRICES of ['pro=price_1', 'free:month=price_1', 'pro:month=a,pro:month=b', 'pro:month=a,pro:year=a'])
    assert.match(problemsOf({ ...stripe, STRIPE_PRICES })[0] ?? '', /^STRIPE_PRICES must look like/);
  assert.equal(problemsOf({ ...stripe, NODE_ENV: 'production', STRIPE_API_URL: 'http://127.0.0.1:1' }).length, 1);
  assert.equal(problemsOf({ SVC_EGRESS_TEST_HOSTS: 'api.example.com:443=127.0.0.1' }).length, 1);
});

test('a data directory too deep for a unix socket moves the socket to a short stable path', () => {
  const deep = { DATA_DIR: `/srv/${'d'.repeat(120)}` };
  const socket = parseEnv(deep).WEB_SOCKET;
  assert.ok(Buffer.byteLength(socket) <= 100);
  assert.equal(parseEnv(deep).WEB_SOCKET, socket);
  assert.notEqual(parseEnv({ DATA_DIR: `${deep.DATA_DIR}2` }).WEB_SOCKET, socket);
});

test('importing never throws, the first use of a malformed environment does', () => {
  const code = `const { env } = await import(${JSON.stringify(import.meta.resolve('./env.ts'))}); console.log('imported'); env.PORT;`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', code], { env: { PORT: 'x', NODE_ENV: 'test' }, encoding: 'utf8' });
  assert.equal(run.stdout, 'imported\n');
  assert.notEqual(run.status, 0);
  assert.match(run.stderr, /PORT must be a whole number/);
});
