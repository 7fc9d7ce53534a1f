import { z } from 'zod';
import { ENGINES } from '#server/domain/dyn-db/engines.shared.ts';
import { SSL_MODES } from '#server/domain/dyn-db/schema.ts';
import type { Connection } from './labels.ts';
import { secondsIn, ttlText } from './ttl-text.ts';

const LEAST_TTL = 60;
const MOST_TTL = 31_536_000;

/** A lifetime as text; empty where the field may be. */
export const ttlField = (empty: 'empty' | 'required') =>
  z.string().refine((text) => {
    if (text.trim() === '') return empty === 'empty';
    const seconds = secondsIn(text);
    return seconds !== undefined && seconds >= LEAST_TTL && seconds <= MOST_TTL;
  }, 'must be one minute to one year, such as 15m, 8h or 7d');

const portField = z
  .string()
  .regex(/^$|^[0-9]{1,5}$/, 'must be a number')
  .refine((text) => text === '' || (Number(text) >= 1 && Number(text) <= 65_535), 'must be 1 to 65535');
const hostField = z.string().trim().min(1, 'is required').max(1_024);
const databaseField = z.string().regex(/^[A-Za-z0-9_-]{0,63}$/, 'may have letters, digits, dashes and underscores, at most 63');

const target = {
  host: hostField,
  port: portField,
  database_name: databaseField,
  admin_username: z.string().max(256),
  sslmode: z.enum(SSL_MODES),
  tls: z.boolean(),
  srv: z.boolean(),
  ca_cert_pem: z.string().max(65_536),
  auth_source: databaseField,
  replica_set: databaseField,
  user_host: z.string().regex(/^[A-Za-z0-9.:%_/-]{0,255}$/, 'must be an address, a name or a pattern of hosts'),
  role_arn: z.string(),
  default_ttl_seconds: ttlField('required'),
  max_ttl_seconds: ttlField('required'),
};
export const ConnectionTarget = z.object(target);
export type Target = z.output<typeof ConnectionTarget>;

/** Modes that can be chosen. */
export const CHOICES = ['direct', 'ssh_tunnel', 'iam', 'agent_tunnel'] as const;

export const NewConnection = z
  .object({
    ...target,
    name: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9_-]{0,62}$/,
        'may have lower-case letters, digits, dashes and underscores, and begins with a letter or digit',
      ),
    engine: z.enum(ENGINES),
    execution_mode: z.enum(CHOICES),
    admin_password: z.string().max(1_024),
    ssh_host: z.string().max(253),
    ssh_port: portField,
    ssh_username: z.string().max(256),
    ssh_private_key: z.string().max(32_768),
    ssh_passphrase: z.string().max(1_024),
    ssh_host_fingerprint: z.string().regex(/^$|^SHA256:[A-Za-z0-9+/]{43}$/, 'must be SHA256: and 43 characters'),
    iam_region: z.string().regex(/^$|^[a-z]{2}(?:-[a-z]{1,12}){1,3}-[0-9]{1,2}$/, 'must be a region such as eu-central-1'),
    iam_db_user: z.string().max(63),
    agent_id: z.string(),
  })
  .superRefine((value, context) => {
    for (const field of neededBy(value.execution_mode))
      if (value[field].trim() === '') context.addIssue({ code: 'custom', path: [field], message: 'is required' });
  });
export type Draft = z.output<typeof NewConnection>;

function neededBy(mode: Draft['execution_mode']) {
  if (mode === 'iam') return ['iam_region', 'iam_db_user', 'role_arn'] as const;
  const direct = ['admin_username', 'admin_password'] as const;
  if (mode === 'agent_tunnel') return [...direct, 'agent_id'] as const;
  return mode === 'ssh_tunnel' ? ([...direct, 'ssh_host', 'ssh_username', 'ssh_private_key'] as const) : direct;
}

export const EMPTY: Draft = {
  name: '',
  engine: 'postgres',
  execution_mode: 'direct',
  host: '',
  port: '',
  database_name: '',
  admin_username: '',
  admin_password: '',
  sslmode: 'require',
  tls: true,
  srv: false,
  ca_cert_pem: '',
  auth_source: '',
  replica_set: '',
  user_host: '',
  role_arn: '',
  default_ttl_seconds: '1h',
  max_ttl_seconds: '1d',
  ssh_host: '',
  ssh_port: '',
  ssh_username: '',
  ssh_private_key: '',
  ssh_passphrase: '',
  ssh_host_fingerprint: '',
  iam_region: '',
  iam_db_user: '',
  agent_id: '',
};

const filled = <K extends string>(values: Readonly<Record<K, string>>): Partial<Record<K, string>> =>
  Object.fromEntries(Object.entries<string>(values).filter(([, value]) => value.trim() !== '')) as Partial<Record<K, string>>;

/** The body of the call that makes a connection: what belongs to another mode or engine stays out. */
export function bodyOf(draft: Draft) {
  const { engine, execution_mode, host, port, ssh_port, admin_password, ssh_private_key, ssh_passphrase } = draft;
  const iam = execution_mode === 'iam';
  const options = optionsOf(draft, engine, iam, {});
  const { name, database_name, admin_username, ssh_host, ssh_username, ssh_host_fingerprint, iam_region, iam_db_user } = draft;
  return {
    name,
    engine,
    ...(execution_mode === 'direct' ? {} : { execution_mode }),
    host: host.trim(),
    ...(port === '' ? {} : { port: Number(port) }),
    ...filled({ database_name }),
    ...(iam ? filled({ iam_region, iam_db_user }) : filled({ admin_username, admin_password })),
    ...(execution_mode === 'agent_tunnel' && { agent_id: draft.agent_id }),
    ...(execution_mode === 'ssh_tunnel' && {
      ...filled({ ssh_host, ssh_username, ssh_private_key, ssh_passphrase, ssh_host_fingerprint }),
      ...(ssh_port === '' ? {} : { ssh_port: Number(ssh_port) }),
    }),
    ...(draft.default_ttl_seconds === EMPTY.default_ttl_seconds ? {} : { default_ttl_seconds: secondsIn(draft.default_ttl_seconds) }),
    ...(draft.max_ttl_seconds === EMPTY.max_ttl_seconds ? {} : { max_ttl_seconds: secondsIn(draft.max_ttl_seconds) }),
    ...(Object.keys(options).length === 0 ? {} : { connect_options: options }),
  };
}

type Options = Connection['connect_options'];

/** The options of a connection with those that the form shows as it has them; defaults are left out, and what it doesn't show stays. */
export function optionsOf(values: Target, engine: Connection['engine'], iam: boolean, before: Options): Options {
  const { sslmode, tls, srv, ca_cert_pem, auth_source, replica_set, user_host, role_arn } = values;
  const { connect_timeout_ms, statement_timeout_ms, external_id } = before;
  return {
    ...(connect_timeout_ms === undefined ? {} : { connect_timeout_ms }),
    ...(statement_timeout_ms === undefined ? {} : { statement_timeout_ms }),
    ...filled({ ca_cert_pem }),
    ...(engine === 'mongo'
      ? { ...(tls ? {} : { tls: false }), ...(srv ? { srv: true } : {}), ...filled({ auth_source, replica_set }) }
      : sslmode === 'require'
        ? {}
        : { sslmode }),
    ...(engine === 'mysql' ? filled({ user_host }) : {}),
    ...(iam ? filled({ role_arn }) : {}),
    ...(external_id === undefined ? {} : { external_id }),
  };
}

/** What the form that edits a connection starts with. */
export function targetOf(connection: Connection): Target {
  const { host, port, database_name, admin_username, connect_options: options } = connection;
  return {
    host,
    port: port === null ? '' : String(port),
    database_name: database_name ?? '',
    admin_username: admin_username ?? '',
    sslmode: options.sslmode ?? 'require',
    tls: options.tls ?? true,
    srv: options.srv ?? false,
    ca_cert_pem: options.ca_cert_pem ?? '',
    auth_source: options.auth_source ?? '',
    replica_set: options.replica_set ?? '',
    user_host: options.user_host ?? '',
    role_arn: options.role_arn ?? '',
    default_ttl_seconds: ttlText(connection.default_ttl_seconds),
    max_ttl_seconds: ttlText(connection.max_ttl_seconds),
  };
}

/** The fields that differ from the connection as it was. */
export function changesOf(values: Target, before: Target, connection: Connection) {
  const iam = connection.execution_mode === 'iam';
  const [options, old] = [values, before].map((each) => optionsOf(each, connection.engine, iam, connection.connect_options));
  return {
    ...(values.host === before.host ? {} : { host: values.host.trim() }),
    ...(values.port === before.port ? {} : { port: values.port === '' ? null : Number(values.port) }),
    ...(values.database_name === before.database_name ? {} : { database_name: values.database_name || null }),
    ...(values.admin_username === before.admin_username ? {} : { admin_username: values.admin_username }),
    ...(values.default_ttl_seconds === before.default_ttl_seconds ? {} : { default_ttl_seconds: secondsIn(values.default_ttl_seconds) }),
    ...(values.max_ttl_seconds === before.max_ttl_seconds ? {} : { max_ttl_seconds: secondsIn(values.max_ttl_seconds) }),
    ...(JSON.stringify(options) === JSON.stringify(old) ? {} : { connect_options: options }),
  };
}
