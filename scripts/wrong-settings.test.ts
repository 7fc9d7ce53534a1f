import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { EnvError, parseEnv } from '../server/platform/env.ts';
import { folderOf } from '../server/testing/processes.ts';

const { directory, remove } = folderOf('wrong-settings');
after(remove);
const file = path.join(directory, 'file');
fs.writeFileSync(file, 'not a key', { mode: 0o600 });
const emptyPrices = path.join(directory, 'empty.json');
fs.writeFileSync(emptyPrices, '');
const KEY = randomBytes(32).toString('base64');

const COMMANDS = {
  start: ['scripts/start.ts'],
  admin: ['scripts/admin.ts', 'list-tenants'],
  seed: ['scripts/seed.ts'],
  migrate: ['scripts/migrate.ts'],
  doctor: ['scripts/doctor.ts'],
  gateway: ['server/gateway/main.ts'],
  web: ['server/web.ts'],
  worker: ['server/jobs/main.ts'],
} as const;

let commands = 0;

/** All that a command prints, and its exit code. Every one of these ends by itself. */
function printed(args: readonly string[], settings: Record<string, string>): Promise<{ code: number; text: string }> {
  const env: Record<string, string | undefined> = {
    PATH: process.env.PATH,
    HOME: directory,
    DATA_DIR: path.join(directory, `data-${++commands}`), // of its own: two that run at once would meet in one
    PORT: '',
    ...settings,
  };
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', ...args],
      { env: env as NodeJS.ProcessEnv, timeout: 120_000 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? -1) : 0, text: stdout + stderr }),
    ),
  );
}

/** Three at a time, since a command that ends at once mostly waits. */
async function inTurns<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  await Promise.all(
    [1, 2, 3].map(async () => {
      for (const one of left) await work(one);
    }),
  );
}

/** Wrong by themselves. */
const MALFORMED: Record<string, string> = {
  NODE_ENV: 'prod',
  SALLYPORT_ROLES: 'gateway,wrok',
  LOG_LEVEL: 'loud',
  DATABASE_URL: 'mysql://x',
  REDIS_URL: 'localhost:6379',
  CLICKHOUSE_URL: 'clickhouse',
  CLICKHOUSE_HOT_DAYS: '0',
  BIND_ADDRESS: 'localhost',
  PORT: '70000',
  PLANE_PORTS: 'api:4000,api:4001',
  PUBLIC_API_URL: 'api.example.com',
  PUBLIC_ADMIN_URL: 'https://admin.example.com/path',
  PROXY_BASE_HOST: 'https://example.com',
  TRUSTED_PROXIES: '10.0.0.0/33',
  SVC_GATEWAYS: '-1',
  SNAPSHOT_MAX_AGE_SECONDS: '1h',
  REQUEST_LOG_JOURNAL: 'yes',
  UPSTREAM_PRIVATE_ALLOWLIST: 'internal',
  ALLOW_HTTP_UPSTREAM: 'maybe',
  DNS_RESOLVERS: 'dns.google',
  MASTER_KEY_B64: 'c2hvcnQ=',
  NEXTAUTH_SECRET: 'short',
  WEBAUTHN_RP_ID: 'https://example.com',
  SMTP_URL: 'mail.example.com',
  MAIL_FROM: 'foo',
  BILLING_DRIVER: 'paypal',
  DEFAULT_PLAN: 'gold',
  GEOIP_DB_PATH: 'countries.csv',
  METRICS_PORT: 'metrics',
  OTEL_TRACES_SAMPLER: 'sometimes',
  OTEL_TRACES_SAMPLER_ARG: '50%',
  SIGNUPS_PER_HOUR: 'many',
};

test('every command and process names all malformed settings, a line each, with no stack and no value', async () => {
  await inTurns(Object.entries(COMMANDS), async ([name, args]) => {
    const { code, text } = await printed(args, MALFORMED);
    assert.equal(code, 1, `${name}: ${text}`);
    assert.doesNotMatch(text, /\n\s+at |node:internal/, name);
    for (const variable of Object.keys(MALFORMED)) assert.match(text, new RegExp(`\\b${variable} must `), `${name} ${variable}`);
    assert.ok(!text.includes(MALFORMED.MASTER_KEY_B64 as string), 'a value is nowhere');
  });
});

/** Well-formed, but not so on this machine: the commands that meet it, and the words that each must print. */
const UNUSABLE: [Record<string, string>, (keyof typeof COMMANDS)[], RegExp][] = [
  [{ DATA_DIR: file }, ['start', 'admin', 'seed', 'doctor'], /DATA_DIR .*is not a folder/],
  [{ DATA_DIR: '/proc/nope' }, ['start', 'seed'], /DATA_DIR can't be used: \/proc\/nope/],
  [{ WEB_SOCKET: path.join(file, 'web.sock') }, ['start', 'web'], /WEB_SOCKET can't be used/],
  [{ DATABASE_URL: 'postgres://svc@127.0.0.1:1/x' }, ['start', 'admin', 'seed', 'migrate', 'doctor'], /DATABASE_URL/],
  [
    { DATABASE_URL: 'postgres://svc@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/nope/ca.pem' },
    ['start', 'admin', 'seed', 'migrate', 'doctor'],
    /DATABASE_URL.*|.*\/nope\/ca\.pem/,
  ],
  [{ BIND_ADDRESS: '192.0.2.1' }, ['start'], /BIND_ADDRESS 192\.0\.2\.1 is not an address of this machine/],
  [{ AI_PRICES_FILE: path.join(directory, 'nope.json') }, ['start', 'doctor'], /AI_PRICES_FILE can't be used: the file does not exist/],
  [{ AI_PRICES_FILE: emptyPrices }, ['start', 'doctor'], /AI_PRICES_FILE can't be used: the file is not JSON/],
  [{ DATA_DIR: path.join(directory, 'mistyped') }, ['admin'], /There is no installation of Sallyport in .*mistyped\. Set DATA_DIR/],
  [{ METRICS_PORT: '3999' }, ['start', 'gateway', 'worker', 'doctor'], /METRICS_PORT serves the metrics of web on port 4000/],
  [{ MASTER_KEY_FILE: file, MASTER_KEY_B64: '' }, ['doctor'], /the key file .* must be exactly 32 bytes/],
];

test('a setting that this machine can not honour is named in words, with no stack', async () => {
  const met = UNUSABLE.flatMap(([settings, names, says]) => names.map((name) => ({ settings, name, says })));
  await inTurns(met, async ({ settings, name, says }) => {
    const { code, text } = await printed(COMMANDS[name], { MASTER_KEY_B64: KEY, ...settings });
    const what = `${name} with ${JSON.stringify(settings)}: ${text}`;
    assert.equal(code, 1, what);
    assert.match(text, says, what);
    assert.doesNotMatch(text, /\n\s+at |node:internal/, what);
  });
  assert.equal(fs.existsSync(path.join(directory, 'mistyped')), false, 'a command makes no installation');
});

test('metrics and calls on one port are refused only where they meet', () => {
  const taken = (settings: Record<string, string>) => {
    try {
      parseEnv({ PLANE_PORTS: 'api:4000,proxy:4003', ...settings });
      return false;
    } catch (error) {
      assert.ok(error instanceof EnvError && error.problems.every((one) => one.startsWith('METRICS_PORT ')), String(error));
      return true;
    }
  };
  const cases: [Record<string, string>, boolean][] = [
    [{ METRICS_PORT: '4000' }, true],
    [{ METRICS_PORT: '3998' }, true],
    [{ METRICS_PORT: '4001' }, true],
    [{ METRICS_PORT: '4004' }, false],
    [{ METRICS_PORT: '4000', SALLYPORT_ROLES: 'worker' }, false],
    [{ METRICS_PORT: '3998', SALLYPORT_ROLES: 'gateway' }, false],
    [{ METRICS_PORT: '4000', BIND_ADDRESS: '10.0.0.5' }, false],
    [{ METRICS_PORT: '4000', BIND_ADDRESS: '0.0.0.0' }, true],
    [{ METRICS_PORT: '4000', BIND_ADDRESS: '10.0.0.5', METRICS_HOST: '0.0.0.0' }, true],
  ];
  for (const [settings, expected] of cases) assert.equal(taken(settings), expected, JSON.stringify(settings));
});
