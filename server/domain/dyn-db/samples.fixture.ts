import { spelledOutPair } from '#server/crypto/named-curve.fixture.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { clientKey, type JumpHost, jumpHost } from '#server/platform/databases/ssh/hosts.fixture.ts';
import { db } from '#server/platform/db.ts';
import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { oncePerFile, onFileEnd } from '#server/testing/file-end.ts';
import { keyActor } from '#server/testing/workspace.ts';
import { ROLE_PROTECTIONS } from './roles.ts';
import { answering, connection, created, role, target } from './target.fixture.ts';

const jump = oncePerFile(
  async (): Promise<JumpHost> => jumpHost({ 'db.inside': { host: (await target()).host, port: 5432 } }, { atEnd: onFileEnd }),
);
/** Through a jump host in this process, which knows the database under a name of its own. */
const tunnelled: Sample = async (ctx) => {
  const { admin } = await target();
  const { target: at } = await jump();
  const connection = await created(ctx, {
    ...{ name: fresh('db'), engine: 'postgres', execution_mode: 'ssh_tunnel', host: 'db.inside', database_name: 'shop' },
    ...{ admin_username: admin.username, admin_password: admin.password },
    ...{ ssh_host: '127.0.0.1', ssh_port: at.port, ssh_username: at.username, ssh_private_key: clientKey.private },
  });
  return { connection };
};

/** A live lease. Who may not mint has it from a key that may. */
const lease: Sample = async (ctx) => {
  const key = { ...ctx, actor: keyActor('Key - Infrastructure') };
  return { id: String((await made(key, 'dyn_db.mint', await role(key))).lease_id) };
};

/** An admin of its own, whose password may change. */
const ownAdmin: Sample = async (ctx) => {
  const { query } = await target();
  const admin_username = fresh('admin').replaceAll('-', '_');
  await query(
    `create role ${admin_username} login createrole password 'a password of its own'; grant connect on database shop to ${admin_username}`,
  );
  const input = { ...(await answering(ctx)), admin_username, admin_password: 'a password of its own' };
  return { connection: await created(ctx, input) };
};

export const samples: Record<string, Sample> = {
  'dyn_db.list': nothing,
  'dyn_db.create': answering,
  'dyn_db.get': connection,
  'dyn_db.update': async (ctx) => ({ ...(await connection(ctx)), default_ttl_seconds: 600 }),
  'dyn_db.delete': connection,
  'dyn_db.rotate_ssh_key': async (ctx) => ({ ...(await tunnelled(ctx)), ssh_private_key: clientKey.private }),
  'dyn_db.rotate_root': ownAdmin,
  'dyn_db.test': connection,
  'dyn_db.list_roles': connection,
  'dyn_db.create_role': async (ctx) => ({ ...(await connection(ctx)), name: fresh('role'), template: 'readonly' }),
  'dyn_db.get_role': role,
  'dyn_db.update_role': async (ctx) => ({ ...(await role(ctx)), default_ttl_seconds: 900 }),
  'dyn_db.delete_role': role,
  'dyn_db.templates': nothing,
  'dyn_db.mint': role,
  'dyn_db.reveal_mint': role,
  'dyn_db.list_leases': nothing,
  'dyn_db.revoke': lease,
  'dyn_db.renew': async (ctx) => ({ ...(await lease(ctx)), ttl_seconds: 7_200 }),
};

/** Members that go together, and what only the service judges: hosts, statements, keys. */
export const dependsOnState = [
  /with execution_mode/,
  /no such agent/,
  /is not reachable from this deployment/,
  /^connect_options\.\w+: /,
  /^execution_mode: iam needs/,
  /^host: must be (?:one host|one name|names or)/,
  /must not exceed max_ttl_seconds/,
  /^ssh_private_key: /,
  /^(?:template|creation_sql|revocation_sql): /,
];

export const revealed: Fixture['revealed'] = { 'dyn_db.reveal_mint': ({ password }) => [password] };
export const secretInput = {
  'dyn_db.create': ['admin_password', 'ssh_passphrase', 'ssh_private_key'],
  'dyn_db.update': ['admin_password'],
  'dyn_db.rotate_ssh_key': ['ssh_passphrase', 'ssh_private_key'],
};
/** Connections with a password whose server never answers. */
const silent = async (ctx: Ctx, more: Record<string, unknown>) => {
  const admin = { admin_username: 'root', admin_password: 'a password nobody may see' };
  return { connection: await created(ctx, { name: fresh('db'), engine: 'postgres', host: '127.0.0.1', port: 1, ...admin, ...more }) };
};
const behindJump = {
  execution_mode: 'ssh_tunnel',
  ssh_host: '127.0.0.1',
  ssh_port: 1,
  ssh_username: 'u',
  ssh_private_key: clientKey.private,
};
const [A_CA, ANOTHER_CA] = [spelledOutPair().named.certificate_pem, spelledOutPair().named.certificate_pem] as const;
const verifying = (ca_cert_pem: string) => ({ sslmode: 'verify-full', ca_cert_pem });
const agentHere = async (ctx: Ctx) => {
  const id = newId();
  const name = fresh('agent');
  await db().agents.create({ data: { ...own(ctx), id, agent_id: `svc_agent_${id}`, name, mode: 'control' } });
  return id;
};
/** The jump host's key is pinned to another one, as if the host had been replaced. */
const otherJump: Sample = async (ctx) => {
  const ref = await tunnelled(ctx);
  const row = await db().dyn_db_connections.findFirstOrThrow({ where: { ...own(ctx), name: String(ref.connection) } });
  await db().dyn_db_connections.update({ where: { id: row.id }, data: { ssh_host_fingerprint: `SHA256:${'A'.repeat(43)}` } });
  return { ...ref, ssh_private_key: clientKey.private, ssh_host_fingerprint: row.ssh_host_fingerprint };
};
export const moving: Fixture['moving'] = {
  'dyn_db.update': {
    edits: {
      host: async (ctx) => ({ ...(await silent(ctx, {})), host: '127.0.0.2' }),
      port: async (ctx) => ({ ...(await silent(ctx, {})), port: 2 }),
      agent_id: async (ctx) => ({
        ...(await silent(ctx, { execution_mode: 'agent_tunnel', agent_id: await agentHere(ctx) })),
        agent_id: await agentHere(ctx),
      }),
      'connect_options.sslmode': async (ctx) => ({
        ...(await silent(ctx, { connect_options: verifying(A_CA) })),
        connect_options: { sslmode: 'require', ca_cert_pem: A_CA },
      }),
      'connect_options.ca_cert_pem': async (ctx) => ({
        ...(await silent(ctx, { connect_options: verifying(A_CA) })),
        connect_options: verifying(ANOTHER_CA),
      }),
      'connect_options.tls': async (ctx) => ({
        ...(await silent(ctx, { ...behindJump, engine: 'mongo' })),
        connect_options: { tls: false },
      }),
      'connect_options.srv': async (ctx) => ({
        ...(await silent(ctx, { ...behindJump, engine: 'mongo', host: 'db.example.com' })),
        connect_options: { srv: true },
      }),
    },
    again: { admin_password: 'another password' },
  },
  'dyn_db.rotate_ssh_key': { edits: { ssh_host_fingerprint: otherJump } },
};
export const movesNothing = { 'dyn_db.update connect_options.user_host': 'it says where users that are made may log in from' };
export const shownOnce = { 'dyn_db.mint': ['password'] };

export const harmless = {
  // Where the admin password goes is judged as a move of it.
  'dyn_db.update': [
    'host',
    'port',
    'database_name',
    'admin_username',
    'admin_password',
    'default_ttl_seconds',
    'max_ttl_seconds',
    'connect_options',
    'agent_id',
    'enabled',
    'name',
    'engine',
    'execution_mode',
  ],
};

export const freeSamples: Fixture['freeSamples'] = {
  // It has no statements.
  'dyn_db.delete_role': async (ctx) => {
    const iam = {
      engine: 'postgres',
      execution_mode: 'iam',
      host: (await target()).host,
      iam_region: 'eu-west-1',
      iam_db_user: 'app_user',
    };
    const connect_options = { role_arn: 'arn:aws:iam::123456789012:role/tokens' };
    const connection = await created(ctx, { ...iam, name: fresh('db'), database_name: 'shop', connect_options });
    return { connection, role: (await made(ctx, 'dyn_db.create_role', { connection, name: 'app' })).name };
  },
};

export const loosening: Fixture['loosening'] = {
  'dyn_db.update_role': {
    rules: ROLE_PROTECTIONS,
    of: async (ctx) => ({ ...(await role(ctx)), default_ttl_seconds: 600 }),
    pairs: {
      creation_sql_template: { strict: { template: 'readonly' }, loose: { template: 'readwrite' } },
      max_ttl_seconds: { strict: { default_ttl_seconds: 600, max_ttl_seconds: 600 }, loose: { max_ttl_seconds: 1_200 } },
    },
  },
};
