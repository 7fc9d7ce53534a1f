import { tmpdir } from 'node:os';
import path from 'node:path';
import { getDomain } from 'tldts';
import { z } from 'zod';
import { processState } from '#server/kernel/process-state.ts';
import * as field from './env-fields.ts';

export type { AllowedRange, Plane, Role, TestHost } from './env-fields.ts';

/** Every setting of the deployment, keyed by its variable name (interface rule 01 §16.2), parsed and frozen. */
export type Env = Readonly<ReturnType<typeof withDefaults>>;

/** What goes to the operator's collector. `share` of traces that begin here, 0 to 1; `every_ms` between two exports of metrics. */
export type Otlp = {
  readonly traces: string | undefined;
  readonly metrics: string | undefined;
  readonly sampler: (typeof field.samplers)[number];
  readonly share: number;
  readonly every_ms: number;
};

/** The environment is unusable; `problems` has one `NAME message` line each and never a value. */
export class EnvError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`Invalid environment variables:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'EnvError';
    this.problems = problems;
  }
}

const held = processState('env', (): { parsed?: Env } => ({}));

/**
 * The settings of this process, read from process.env at the first use of any of them, so that importing this module never throws
 * and a test may set variables first. Throws EnvError with everything that is wrong.
 */
export const env: Env = new Proxy({} as Env, {
  // biome-ignore lint/suspicious/noAssignInExpressions: the memo is the point
  get: (_, name) => Reflect.get((held.parsed ??= parseEnv(process.env)), name),
  set: () => false,
});

/** LOG_LEVEL alone, or info when it is malformed: the logger must exist before, and to report, a broken environment. */
export function logLevel(): z.output<typeof level> {
  return level.safeParse(process.env.LOG_LEVEL || undefined).data ?? 'info';
}

/**
 * What Next and next-auth read from the environment by themselves. Next must see production unless it is the development server,
 * also in a development deployment; what the operator asked for stays readable as env.NODE_ENV. Node's watcher would have Next's own workers report
 * the files they load, and report them to Next, which ends at a message it doesn't know.
 */
export function enterWebMode(dev: boolean): void {
  const { NODE_ENV, NEXTAUTH_URL } = env;
  Object.assign(process.env, { SALLYPORT_MODE: NODE_ENV, NODE_ENV: dev ? 'development' : 'production', NEXTAUTH_URL });
  delete process.env.WATCH_REPORT_DEPENDENCIES;
}

/** Parses a set of variables. An empty variable counts as unset, but for PLANE_PORTS, where empty asks for one port. Throws EnvError. */
export function parseEnv(source: Readonly<Record<string, string | undefined>>): Env {
  const set = Object.fromEntries(
    Object.entries(source).filter(([name, value]) => value !== undefined && (value !== '' || name === 'PLANE_PORTS')),
  );
  const result = variables.safeParse(set);
  if (!result.success) throw new EnvError(result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`));
  const full = withDefaults(result.data, set);
  const problems = contradictions(full);
  if (problems.length > 0) throw new EnvError(problems);
  return Object.freeze(full);
}

const level = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be a log level such as info').default('info');

const variables = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test'], 'must be development, production or test').optional(),
  // The web process must run Next with NODE_ENV=production even in a development deployment: what was asked for travels here.
  SALLYPORT_MODE: z.enum(['development', 'production', 'test'], 'must be development, production or test').optional(),
  SALLYPORT_ROLES: field.roleList.default(field.roles),
  LOG_LEVEL: level,

  DATABASE_URL: field.urlOf('postgresql', 'postgres').optional(),
  REDIS_URL: field.urlOf('redis', 'rediss').optional(),
  CLICKHOUSE_URL: field.origin.optional(),
  CLICKHOUSE_USER: field.text.default('default'),
  CLICKHOUSE_PASSWORD: field.text.optional(),
  CLICKHOUSE_DATABASE: z
    .string()
    .regex(/^\w{1,64}$/, 'must be letters, digits and underscores')
    .default('default'),
  CLICKHOUSE_HOT_DAYS: field.whole(1, 365).default(7),
  DATA_DIR: field.text.default('data'),
  WEB_SOCKET: field.text.optional(),
  BIND_ADDRESS: field.ipAddress.optional(),
  PORT: field.whole(1, 65_535).default(4000),
  PLANE_PORTS: field.planePorts.optional(),
  PUBLIC_API_URL: field.origin.optional(),
  PUBLIC_SANDBOX_API_URL: field.origin.optional(),
  PUBLIC_ADMIN_URL: field.origin.optional(),
  PUBLIC_HOOKS_URL: field.httpUrl.optional(),
  PROXY_BASE_HOST: field.hostName.default('localhost'),
  WRAP_BASE_HOST: field.hostName.optional(),
  WRAP_TOKEN_RPS: field.whole(1, 100_000).default(50),
  PROXY_PATH_MODE: field.flag.optional(),
  TRUSTED_PROXIES: field.cidrs.default([]),
  CLIENT_CERT_HEADER: z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9-]+$/, 'must be a header name')
    .optional(),

  EGRESS_IPS: field.cidrs.default([]),

  SVC_GATEWAYS: field.whole(1, 1000).default(1),
  SHUTDOWN_DELAY_SECONDS: field.whole(0, 60).default(0),
  SNAPSHOT_MAX_AGE_SECONDS: field.whole(1, 604_800).default(3600),
  MAX_INFLIGHT_PER_TENANT: field.whole(1, 100_000).default(200),
  LOG_SPILL_DIR: field.text.default(tmpdir()),
  REQUEST_LOG_JOURNAL: z.enum(['off', 'on', 'fsync'], 'must be off, on or fsync').default('on'),
  UPSTREAM_PRIVATE_ALLOWLIST: field.allowedRanges.default([]),
  UPSTREAM_DENYLIST: field.cidrs.default([]),
  ALLOW_HTTP_UPSTREAM: field.flag.default(false),
  DNS_RESOLVERS: field.resolvers.default(['1.1.1.1', '8.8.8.8']),
  SVC_TEST_MODE: field.flag.default(false),
  SVC_EGRESS_TEST_HOSTS: field.testHosts.default([]),

  MASTER_KEY_B64: field.key32.optional(),
  MASTER_KEY_FILE: field.text.optional(),
  MASTER_KEY_PREVIOUS_B64: field.key32.optional(),
  MASTER_KMS_PROVIDER: field.text.optional(),
  MASTER_KMS_KEY_REF: field.text.optional(),
  KMS_CACHE_SECONDS: field.whole(1, 300).default(300),
  KMS_POLL_SECONDS: field.whole(1, 300).default(30),
  KMS_AWS_ACCOUNT_ID: z
    .string()
    .regex(/^\d{12}$/, 'must be the 12 digits of an AWS account')
    .optional(),
  KMS_GCP_PRINCIPAL: field.text.optional(),
  KMS_AZURE_APP_ID: z.guid('must be the GUID of an app registration').optional(),
  KMS_TEST_GCP_URL: field.origin.optional(),
  KMS_TEST_AZURE_URL: field.origin.optional(),
  AUDIT_SIGNING_KEY_B64: field.key32.optional(),
  PASSWORD_PEPPER_B64: z.base64('must be base64').optional(),
  NEXTAUTH_URL: field.origin.optional(),
  NEXTAUTH_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  WEBAUTHN_RP_ID: field.hostName.optional(),

  SMTP_URL: field.urlOf('smtp', 'smtps').optional(),
  MAIL_FROM: field.mailbox.optional(),
  SMS_PROVIDER_URL: field.httpUrl.optional(),
  BILLING_DRIVER: z.enum(['manual', 'stripe'], 'must be manual or stripe').default('manual'),
  DEFAULT_PLAN: z.enum(['free', 'starter', 'pro', 'enterprise'], 'must be free, starter, pro or enterprise').optional(),
  STRIPE_SECRET_KEY: field.text.optional(),
  STRIPE_WEBHOOK_SECRET: field.text.optional(),
  STRIPE_PRICES: field.prices.optional(),
  STRIPE_API_URL: field.origin.default('https://api.stripe.com'),
  SIGNUPS_PER_HOUR: field.whole(0, 1_000_000).default(200),
  CAPTCHA_SECRET: field.text.optional(),
  DEMO_UPSTREAM: field.httpUrl.optional(),
  GEOIP_DB_PATH: field.text.regex(/\.mmdb$/, 'must name a .mmdb file').optional(),
  AI_PRICES_FILE: field.text.regex(/\.json$/, 'must name a .json file').optional(),
  PRESIDIO_URL: field.httpUrl.optional(),
  MANIFEST_TTL_SECONDS: field.whole(10, 3600).default(60),
  METRICS_PORT: field.whole(1, 65_533).optional(),
  METRICS_HOST: field.ipAddress.default('127.0.0.1'),
  OPS_OTLP_ENDPOINT: field.httpUrl.optional(),
  OTEL_SDK_DISABLED: field.flag.default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: field.httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: field.httpUrl.optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: field.httpUrl.optional(),
  OTEL_TRACES_SAMPLER: z.enum(field.samplers, `must be one of ${field.samplers.join(', ')}`).default('parentbased_traceidratio'),
  OTEL_TRACES_SAMPLER_ARG: field.share.default(0.01),
  OTEL_METRIC_EXPORT_INTERVAL: field.whole(1_000, 3_600_000).default(60_000),
  PKI_PUB_HTTP: field.flag.default(false),
  PKI_DNS_RESOLVERS: field.resolvers.default([]),
  SVC_STRICT_BUILD_CHECK: field.flag.default(false),
});

/** Settings of later releases: accepted, so that one set of variables serves several versions, and without effect until then. */
const LATER = [
  'CAPTCHA_SECRET',
  'MANIFEST_TTL_SECONDS',
  'PRESIDIO_URL',
  'SMS_PROVIDER_URL',
  'SVC_STRICT_BUILD_CHECK',
] as const satisfies readonly (keyof typeof variables.shape)[];

/** Which of them are set: an operator who set one expects something to happen. */
export const withoutEffect = (source: Readonly<Record<string, string | undefined>>): string[] => LATER.filter((name) => source[name]);

/** Names of all variables that decide how the product behaves. */
export const variableNames: readonly string[] = Object.keys(variables.shape);

/** Fills in what depends on another variable. */
function withDefaults(given: z.output<typeof variables>, source: Readonly<Record<string, string | undefined>>) {
  const { SALLYPORT_MODE, ...rest } = given;
  const local = given.PROXY_BASE_HOST === 'localhost';
  const ports = given.PLANE_PORTS ?? (local ? { api: 4000, sandbox: 4001, admin: 4002, proxy: 4003 } : {});
  const admin = given.PUBLIC_ADMIN_URL ?? `http://localhost:${ports.admin ?? 4002}`;
  const api = given.PUBLIC_API_URL ?? `http://localhost:${ports.api ?? 4000}`;
  const data = path.resolve(given.DATA_DIR);
  return {
    ...rest,
    NODE_ENV: SALLYPORT_MODE ?? given.NODE_ENV ?? ('development' as const),
    DATA_DIR: data,
    GEOIP_DB_PATH: given.GEOIP_DB_PATH && path.resolve(given.GEOIP_DB_PATH),
    AI_PRICES_FILE: given.AI_PRICES_FILE && path.resolve(given.AI_PRICES_FILE),
    WEB_SOCKET: given.WEB_SOCKET ?? socketIn(data),
    BIND_ADDRESS: given.BIND_ADDRESS ?? (local ? '127.0.0.1' : '0.0.0.0'),
    PLANE_PORTS: ports,
    PUBLIC_API_URL: api,
    PUBLIC_SANDBOX_API_URL: given.PUBLIC_SANDBOX_API_URL ?? `http://localhost:${ports.sandbox ?? 4001}`,
    PUBLIC_ADMIN_URL: admin,
    PUBLIC_HOOKS_URL: given.PUBLIC_HOOKS_URL ?? `${api}/hooks`,
    PROXY_PATH_MODE: given.PROXY_PATH_MODE ?? local,
    MASTER_KEY_FILE: given.MASTER_KEY_FILE ?? path.join(data, 'master.key'),
    NEXTAUTH_URL: given.NEXTAUTH_URL ?? admin,
    WEBAUTHN_RP_ID: given.WEBAUTHN_RP_ID ?? getDomain(admin, { allowPrivateDomains: true }) ?? new URL(admin).hostname,
    MAIL_FROM: given.MAIL_FROM ?? `Sallyport <no-reply@${new URL(admin).hostname}>`,
    DEFAULT_PLAN: given.DEFAULT_PLAN ?? ('enterprise' as const),
    OTLP: otlpOf(given),
    /** Client secrets of customer vaults, by full variable name. */
    AZURE_BYOK: Object.freeze(Object.fromEntries(Object.entries(source).filter(([name]) => name.startsWith('AZURE_BYOK_')))),
  };
}

/** Where traces and metrics are sent, by the rules of OpenTelemetry: the address of one signal is whole, that of both gets the signal's path. */
function otlpOf(given: z.output<typeof variables>): Otlp | undefined {
  const base = given.OTEL_EXPORTER_OTLP_ENDPOINT ?? given.OPS_OTLP_ENDPOINT;
  const traces = given.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base}/v1/traces`);
  const metrics = given.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ?? (base && `${base}/v1/metrics`);
  if (given.OTEL_SDK_DISABLED || (traces === undefined && metrics === undefined)) return undefined;
  const { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share, OTEL_METRIC_EXPORT_INTERVAL: every_ms } = given;
  return Object.freeze({ traces, metrics, sampler, share, every_ms });
}

/** What only shows when several variables are looked at together. */
function contradictions(env: Env): string[] {
  const fixed = [env.MASTER_KEY_B64, env.MASTER_KEY_PREVIOUS_B64].some((key) => key !== undefined && isFixed(Buffer.from(key, 'base64')));
  const checks: [boolean, string][] = [
    [env.NODE_ENV === 'production' && env.SVC_TEST_MODE, 'SVC_TEST_MODE is not allowed when NODE_ENV is production'],
    [env.NODE_ENV === 'production' && fixed, 'MASTER_KEY_B64 is a fixed test key, which is not allowed when NODE_ENV is production'],
    [
      (env.KMS_TEST_GCP_URL ?? env.KMS_TEST_AZURE_URL) !== undefined && !env.SVC_TEST_MODE,
      'KMS_TEST_GCP_URL and KMS_TEST_AZURE_URL require SVC_TEST_MODE=1',
    ],
    ...metricsClashes(env).map((problem): [boolean, string] => [true, problem]),
    [env.SVC_EGRESS_TEST_HOSTS.length > 0 && !env.SVC_TEST_MODE, 'SVC_EGRESS_TEST_HOSTS requires SVC_TEST_MODE=1'],
    [
      // Ignored, it would leave the root key in a file while the operator believes it in a KMS.
      env.MASTER_KMS_PROVIDER !== undefined || env.MASTER_KMS_KEY_REF !== undefined,
      'MASTER_KMS_PROVIDER and MASTER_KMS_KEY_REF are not available in this release. Use MASTER_KEY_B64 or MASTER_KEY_FILE',
    ],
    [
      env.MASTER_KEY_PREVIOUS_B64 !== undefined && env.MASTER_KEY_PREVIOUS_B64 === env.MASTER_KEY_B64,
      'MASTER_KEY_PREVIOUS_B64 must differ from MASTER_KEY_B64',
    ],
    // Without them, plans would be given away that nobody pays for.
    ...(['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICES'] as const).map((name): [boolean, string] => [
      env.BILLING_DRIVER === 'stripe' && env[name] === undefined,
      `${name} is required when BILLING_DRIVER is stripe`,
    ]),
    [
      !`.${new URL(env.PUBLIC_ADMIN_URL).hostname}`.endsWith(`.${env.WEBAUTHN_RP_ID}`),
      'WEBAUTHN_RP_ID must be the host of PUBLIC_ADMIN_URL or a parent domain of it, or browsers refuse every passkey',
    ],
    [
      env.NODE_ENV === 'production' && !env.STRIPE_API_URL.startsWith('https:') && env.BILLING_DRIVER === 'stripe',
      'STRIPE_API_URL must start with https:// when NODE_ENV is production',
    ],
  ];
  return checks.filter(([wrong]) => wrong).map(([, problem]) => problem);
}

/** Where each role serves its metrics, above METRICS_PORT: one machine runs all three. */
export const METRICS_OFFSETS: Readonly<Record<field.Role, number>> = { gateway: 0, web: 1, worker: 2 };

/** A port that one process of this machine serves metrics on and the gateway serves calls on: whichever opens it first keeps the other out. */
function metricsClashes({ METRICS_PORT, METRICS_HOST, BIND_ADDRESS, PLANE_PORTS, PORT, SALLYPORT_ROLES }: Env): string[] {
  const any = (address: string) => address === '0.0.0.0' || address === '::';
  if (METRICS_PORT === undefined || !SALLYPORT_ROLES.includes('gateway')) return [];
  if (METRICS_HOST !== BIND_ADDRESS && !any(METRICS_HOST) && !any(BIND_ADDRESS)) return [];
  const planes = Object.values(PLANE_PORTS);
  const used = planes.length > 0 ? planes : [PORT];
  return SALLYPORT_ROLES.filter((role) => used.includes(METRICS_PORT + METRICS_OFFSETS[role])).map(
    (role) =>
      `METRICS_PORT serves the metrics of ${role} on port ${METRICS_PORT + METRICS_OFFSETS[role]}, which ${planes.length > 0 ? 'PLANE_PORTS' : 'PORT'} uses for calls. Choose three ports in a row that are free, such as 9464`,
  );
}

/** One repeated byte or 0, 1, 2, …: keys that stand in examples and test vectors. */
function isFixed(key: Buffer): boolean {
  return key.every((byte) => byte === key[0]) || key.every((byte, index) => byte === index);
}

/** A unix socket path may have 107 bytes; a longer one moves to a short private folder that is stable for this data directory. */
function socketIn(data: string): string {
  const usual = path.join(data, 'run', 'web.sock');
  if (Buffer.byteLength(usual) <= 100) return usual;
  let hash = 0xcbf29ce484222325n; // FNV-1a: the name must be stable and short, not secret
  for (const byte of Buffer.from(data)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return path.join(tmpdir(), `sallyport-${hash.toString(36)}`, 'web.sock');
}
