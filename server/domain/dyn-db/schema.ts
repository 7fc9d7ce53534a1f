import { z } from 'zod';
import { atLeastOne, pathId, queryInt, secret, shownOnce, time, uuid } from '#server/kernel/fields.ts';
import { ENGINE_ALIASES, ENGINES, type Engine } from './engines.shared.ts';

export const EXECUTION_MODES = ['direct', 'agent_tunnel', 'ssh_tunnel', 'iam'] as const;
export type ExecutionMode = (typeof EXECUTION_MODES)[number];
export const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export const CONNECTION_STATUSES = ['unknown', 'ok', 'failing'] as const;

/** Parts of paths below the family's own. */
export const RESERVED_NAMES = ['leases', 'connections', 'roles', 'templates'] as const;

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const RESERVED = /^(?!(?:leases|connections|roles|templates)$)/;
const LIKE_ID = /^(?![0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$)/;

export const connectionName = () =>
  z
    .string()
    .regex(
      NAME,
      'may have lower-case letters, digits, dashes and underscores, begins with a letter or digit, and has at most 63 characters',
    )
    .regex(RESERVED, `can't be ${RESERVED_NAMES.join(', ')}, which are reserved`)
    .regex(LIKE_ID, "can't look like an ID");
export const roleName = connectionName;

const ttl = () => z.int().min(60).max(31_536_000);
const port = () => z.int().min(1).max(65_535);
/** A name or address; for MongoDB also a list of host:port. The service judges it. */
const host = () =>
  z
    .string()
    .max(1_024)
    .regex(/^[A-Za-z0-9_[\]:.,-]{1,1024}$/, 'must be a host name or an address, without scheme, user or path');
const singleHost = () => z.string().regex(/^[A-Za-z0-9_:.-]{1,253}$/, 'must be a host name or an address');
const userName = (max: number) =>
  z
    .string()
    .regex(/^[^\u0000-\u001f\u007f]+$/, 'must not contain control characters')
    .min(1)
    .max(max);
const databaseName = () => z.string().regex(/^[A-Za-z0-9_-]{1,63}$/, 'may have letters, digits, dashes and underscores, at most 63');
const fingerprint = () =>
  z
    .string()
    .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'must be SHA256: and 43 characters of base64')
    .meta({ examples: ['SHA256:uNiVztksCsDhcc0u9e8BrXJKZmiQgIqDjHa6GqCsZwY'] });
const password = () =>
  z
    .string()
    .min(1)
    .max(1_024)
    .regex(/^[^\u0000]+$/, 'must not contain NUL');
const pem = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\u0000]+$/, 'must not contain NUL');

/** Interface rule 44 §3.2. What fits which engine is judged with the connection. */
export const ConnectOptions = z
  .strictObject({
    sslmode: z.enum(SSL_MODES).optional(),
    ca_cert_pem: pem(65_536).optional(),
    connect_timeout_ms: z.int().min(1_000).max(30_000).optional(),
    statement_timeout_ms: z.int().min(1_000).max(60_000).optional(),
    auth_source: databaseName().optional(),
    replica_set: databaseName().optional(),
    srv: z.boolean().optional(),
    tls: z.boolean().optional(),
    role_arn: z
      .string()
      .regex(/^arn:aws[a-z-]{0,10}:iam::[0-9]{12}:role\/[A-Za-z0-9+=,.@_/-]{1,512}$/, 'must be the ARN of a role')
      .optional(),
    external_id: z
      .string()
      .regex(/^[A-Za-z0-9+=,.@:/_-]{2,1024}$/, 'must be an external ID of 2 to 1,024 characters')
      .optional(),
    user_host: z
      .string()
      .regex(/^[A-Za-z0-9.:%_/-]{1,255}$/, 'must be an address, a name or a pattern of hosts')
      .optional(),
  })
  .meta({ id: 'DynDbConnectOptions' });
export type ConnectionOptions = z.output<typeof ConnectOptions>;

/** A registered database (interface rule 44 §1.1). Its admin's password and its SSH key are in no answer. */
export const DynDbConnection = z
  .object({
    id: z.uuid(),
    name: z.string(),
    engine: z.enum(ENGINES),
    host: z.string(),
    port: z.int().nullable(),
    database_name: z.string().nullable(),
    admin_username: z.string().nullable(),
    has_admin_password: z.boolean(),
    execution_mode: z.enum(EXECUTION_MODES),
    agent_id: z.uuid().nullable(),
    default_ttl_seconds: z.int(),
    max_ttl_seconds: z.int(),
    connect_options: ConnectOptions,
    enabled: z.boolean(),
    ssh_host: z.string().nullable(),
    ssh_port: z.int().nullable(),
    ssh_username: z.string().nullable(),
    ssh_host_fingerprint: z.string().nullable(),
    iam_region: z.string().nullable(),
    iam_db_user: z.string().nullable(),
    status: z.enum(CONNECTION_STATUSES),
    last_check_at: time().nullable(),
    last_error: z.string().nullable(),
    role_count: z.int(),
    live_leases: z.int(),
    errored_leases: z.int(),
    orphans: z.array(z.string()),
    orphans_checked_at: time().nullable(),
    root_rotated_at: time().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'DynDbConnection' });

const ALIASED = [...ENGINES, ...(Object.keys(ENGINE_ALIASES) as (keyof typeof ENGINE_ALIASES)[])] as const;
const engine = () =>
  z
    .enum(ALIASED)
    .transform((given): Engine => (given in ENGINE_ALIASES ? ENGINE_ALIASES[given as keyof typeof ENGINE_ALIASES] : (given as Engine)));
const executionMode = () =>
  z.enum([...EXECUTION_MODES, 'agent']).transform((given): ExecutionMode => (given === 'agent' ? 'agent_tunnel' : given));

const ttls = { default_ttl_seconds: ttl().optional(), max_ttl_seconds: ttl().optional() };

export const CreateDynDbConnection = z.object({
  name: connectionName(),
  engine: engine(),
  execution_mode: executionMode().default('direct'),
  host: host(),
  port: port().nullable().optional(),
  database_name: databaseName().nullable().optional(),
  admin_username: userName(256).optional(),
  admin_password: secret(password()).optional(),
  agent_id: uuid().optional(),
  ...ttls,
  connect_options: ConnectOptions.optional(),
  enabled: z.boolean().default(true),
  ssh_host: singleHost().optional(),
  ssh_port: port().optional(),
  ssh_username: userName(256).optional(),
  ssh_private_key: secret(pem(32_768)).optional(),
  ssh_passphrase: secret(password()).optional(),
  ssh_host_fingerprint: fingerprint().optional(),
  iam_region: z
    .string()
    .regex(/^[a-z]{2}(?:-[a-z]{1,12}){1,3}-[0-9]{1,2}$/, 'must be a region such as eu-central-1')
    .optional(),
  iam_db_user: z
    .string()
    .regex(/^[A-Za-z0-9_.@-]{1,63}$/, 'may have letters, digits, dots, dashes, underscores and @, at most 63')
    .optional(),
});
export const CreatedDynDbConnection = DynDbConnection.pick({ id: true, name: true, engine: true, execution_mode: true }).meta({
  id: 'CreatedDynDbConnection',
});

const unchangeable = () => z.never({ error: "can't be changed; create another connection" }).optional();

export const UpdateDynDbConnection = atLeastOne(
  z.object({
    connection: pathId(),
    host: host().optional(),
    port: port().nullable().optional(),
    database_name: databaseName().nullable().optional(),
    admin_username: userName(256).optional(),
    admin_password: secret(password()).optional(),
    ...ttls,
    connect_options: ConnectOptions.optional(),
    agent_id: uuid().optional(),
    enabled: z.boolean().optional(),
    name: unchangeable(),
    engine: unchangeable(),
    execution_mode: unchangeable(),
  }),
  ['connection'],
);
export const UpdatedDynDb = z.object({ updated: z.string() }).meta({ id: 'UpdatedDynDb' });
export const DeletedDynDb = z.object({ deleted: z.literal(true), name: z.string() }).meta({ id: 'DeletedDynDb' });

export const NoInput = z.object({});
/** The name of a connection, in paths. */
export const ConnectionRef = z.object({ connection: pathId() });

export const RotateSshKey = z.object({
  connection: pathId(),
  ssh_private_key: secret(pem(32_768)),
  ssh_passphrase: secret(password()).optional(),
  ssh_host_fingerprint: fingerprint().optional(),
});
export const RotatedSshKey = z.object({ rotated: z.string(), fingerprint_updated: z.boolean() }).meta({ id: 'RotatedSshKey' });
export const RotatedRoot = z.object({ rotated: z.string(), rotated_at: time() }).meta({ id: 'RotatedRoot' });

export const TestedDynDbConnection = z
  .object({
    ok: z.boolean(),
    latency_ms: z.int(),
    server_version: z.string().nullable(),
    missing_privileges: z.array(z.string()),
    orphans: z.array(z.string()),
    error: z.string().nullable(),
  })
  .meta({ id: 'TestedDynDbConnection' });

/** What makes and removes users (interface rule 44 §1.2). */
export const DynDbRole = z
  .object({
    id: z.uuid(),
    name: z.string(),
    template: z.string().nullable(),
    creation_sql_template: z.string().nullable(),
    revocation_sql_template: z.string().nullable(),
    default_ttl_seconds: z.int().nullable(),
    max_ttl_seconds: z.int().nullable(),
    live_leases: z.int(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'DynDbRole' });

const statements = () =>
  z
    .string()
    .min(1)
    .max(32_768)
    .regex(/^[^\u0000]+$/, 'must not contain NUL');
const roleFields = {
  template: z.string().min(1).max(63).optional(),
  creation_sql: statements().optional(),
  revocation_sql: statements().nullable().optional(),
  default_ttl_seconds: ttl().nullable().optional(),
  max_ttl_seconds: ttl().nullable().optional(),
};
export const RoleRef = z.object({ connection: pathId(), role: pathId() });
export const CreateDynDbRole = z.object({ connection: pathId(), name: roleName(), ...roleFields });
export const CreatedDynDbRole = z.object({ id: z.uuid(), name: z.string(), connection: z.string() }).meta({ id: 'CreatedDynDbRole' });
export const UpdateDynDbRole = atLeastOne(z.object({ connection: pathId(), role: pathId(), name: unchangeable(), ...roleFields }), [
  'connection',
  'role',
]);

export const LEASE_STATUSES = ['active', 'renewing', 'errored', 'expired', 'revoked', 'failed'] as const;
export const LISTED_STATUSES = ['active', 'renewing', 'errored'] as const;

export const DynDbLease = z
  .object({
    id: z.int(),
    status: z.enum(LEASE_STATUSES),
    expires_at: time(),
    issued_at: time(),
    username: z.string().nullable(),
    connection_name: z.string().nullable(),
    role_name: z.string().nullable(),
    engine: z.enum(ENGINES).nullable(),
    renewable: z.boolean(),
    attempts: z.int(),
    last_error: z.string().nullable(),
  })
  .meta({ id: 'DynDbLease' });

export const ListLeases = z.object({
  limit: queryInt(1, 500).default(100),
  offset: queryInt(0, 1_000_000).default(0),
  connection: z.string().max(63).optional(),
  role: z.string().max(63).optional(),
  status: z.enum(LISTED_STATUSES).optional(),
});
export const DynDbLeases = z
  .object({ leases: z.array(DynDbLease), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'DynDbLeases' });

export const LeaseRef = z.object({ id: pathId() });
export const RevokedLease = z.object({ revoked: z.int(), message: z.string().optional() }).meta({ id: 'RevokedLease' });

/** Nothing, zero and less ask for the default. */
const ttlAsked = () => z.int().optional();
export const RenewLease = z.object({ id: pathId(), ttl_seconds: ttlAsked() });

export const MintDynDbCredential = z.object({ connection: pathId(), role: pathId(), ttl_seconds: ttlAsked() });

const credential = {
  username: z.string(),
  expires_at: time(),
  lease_id: z.int(),
  connection_name: z.string(),
  role_name: z.string(),
  host: z.string(),
  port: z.int(),
  database_name: z.string().nullable(),
  engine: z.enum(ENGINES),
  ttl_seconds: z.int(),
  renewable: z.boolean(),
};
export const DynDbCredential = z.object({ ...credential, password: shownOnce(z.string()) }).meta({ id: 'DynDbCredential' });

/** What a dashboard shows of it, behind the gate of reveals. */
export const RevealedDynDbCredential = z.object({ ...credential, password: z.string() }).meta({ id: 'RevealedDynDbCredential' });

export const DynDbTemplate = z
  .object({
    name: z.string(),
    engine: z.enum(ENGINES),
    label: z.string(),
    description: z.string(),
    creation_sql: z.string(),
    revocation_sql: z.string(),
  })
  .meta({ id: 'DynDbTemplate' });
