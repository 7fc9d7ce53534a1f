import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import ssh2 from 'ssh2';
import { clientKey, type JumpHost, jumpHost, newKey } from '#server/platform/databases/ssh/hosts.fixture.ts';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { confirmedOwner } from '#server/testing/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { readAccess, withDatabase } from './sessions.ts';
import type { ConnectionRow } from './store.ts';
import { answering, created, target } from './target.fixture.ts';

// What a mode other than direct adds to minting: through a jump host, and with tokens of RDS. Through an agent: server/gateway/agents/tunnels.test.ts.

await ownDatabase();
const server = await target();
const leaseOf = (w: Workspace) => db().dyn_db_leases.findFirstOrThrow({ where: { tenant_id: w.tenant.id }, orderBy: { number: 'desc' } });
const exists = async (username: string) => (await server.query(`select 1 from pg_roles where rolname = '${username}'`)).rowCount === 1;

test('a jump host is known by the key it showed first: another one is refused, also for a new SSH key, until its fingerprint is given', async () => {
  const w = await workspace();
  const inside = { 'db.inside': { host: server.host, port: 5432 } };
  const [first, second] = [await jumpHost(inside, { atEnd: onFileEnd }), await jumpHost(inside, { atEnd: onFileEnd })];
  const connection = await created(w.live, {
    ...{ name: fresh('db'), engine: 'postgres', execution_mode: 'ssh_tunnel', host: 'db.inside', database_name: 'shop' },
    ...{ admin_username: server.admin.username, admin_password: server.admin.password },
    ...{ ssh_host: '127.0.0.1', ssh_port: first.target.port, ssh_username: 'jump', ssh_private_key: clientKey.private },
  });
  const place = { connection, role: 'reader' };
  await made(w.live, 'dyn_db.create_role', { connection, name: 'reader', template: 'readonly' });
  const pinned = async () => (await made(w.live, 'dyn_db.get', { connection })).ssh_host_fingerprint;
  assert.equal(await pinned(), first.fingerprint);
  const { username, host, lease_id } = await made(w.live, 'dyn_db.mint', place);
  assert.deepEqual([host, await exists(username)], ['db.inside', true]);
  await made(w.live, 'dyn_db.revoke', { id: String(lease_id) });
  assert.equal(await exists(username), false);

  // Another machine answers in its place.
  await db().$executeRaw`update dyn_db_connections set ssh_port = ${second.target.port} where tenant_id = ${w.tenant.id}::uuid`;
  await assert.rejects(made(w.live, 'dyn_db.mint', place), { type: 'ssh_host_key_mismatch', status: 502 });
  assert.deepEqual([second.forwarded, (await leaseOf(w)).status, await pinned()], [[], 'failed', first.fingerprint]);
  const rotate = (more: Record<string, unknown>) => made(w.live, 'dyn_db.rotate_ssh_key', { connection, ...more });
  await assert.rejects(rotate({ ssh_private_key: clientKey.private }), { type: 'ssh_host_key_mismatch' });
  const ssh_host_fingerprint = second.fingerprint;
  const again = { ssh_private_key: clientKey.private, ssh_host_fingerprint };
  await assert.rejects(rotate(again), { type: 'validation_error', message: /^ssh_host_fingerprint: / });
  assert.deepEqual([second.forwarded, await pinned()], [[], first.fingerprint], 'nothing goes there before somebody confirms it');
  const confirmed = async (more: Record<string, unknown>) =>
    made(await confirmedOwner(w, 'credential.move'), 'dyn_db.rotate_ssh_key', { connection, ...more });
  await assert.rejects(confirmed({ ssh_private_key: newKey().private, ssh_host_fingerprint }), { type: 'database_unreachable' });
  assert.equal(await pinned(), first.fingerprint, 'a key that does not log in changes nothing');
  const entries = async () =>
    (
      await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'dyn_db_connection' }, orderBy: { seq: 'asc' } })
    ).map(({ details }) => details as Record<string, unknown>);
  const tried = (await entries()).at(-1);
  assert.deepEqual(
    [tried?.ssh_key, tried?.moved, tried?.changes],
    ['trying', ['ssh_host_fingerprint'], undefined],
    'what was tried is no change',
  );
  assert.deepEqual(await confirmed(again), { rotated: connection, fingerprint_updated: true });
  const change = { field: 'ssh_host_fingerprint', from: first.fingerprint, to: second.fingerprint };
  assert.deepEqual((await entries()).at(-1)?.changes, [change]);
  assert.deepEqual(await rotate(again), { rotated: connection, fingerprint_updated: false });
  const renewed = await made(w.live, 'dyn_db.mint', place);
  await made(w.live, 'dyn_db.revoke', { id: String(renewed.lease_id) });
});

test('where two sessions see a jump host first, the one whose key was pinned goes on and the other is refused', async () => {
  const w = await workspace();
  const inside = { 'db.inside': { host: server.host, port: 5432 } };
  const [first, second] = [await jumpHost(inside, { atEnd: onFileEnd }), await jumpHost(inside, { atEnd: onFileEnd })];
  await created(w.live, {
    ...{ name: fresh('db'), engine: 'postgres', execution_mode: 'ssh_tunnel', host: 'db.inside', database_name: 'shop' },
    ...{ admin_username: server.admin.username, admin_password: server.admin.password },
    ...{ ssh_host: '127.0.0.1', ssh_port: second.target.port, ssh_username: 'jump', ssh_private_key: clientKey.private },
  });
  const where = { tenant_id: w.tenant.id };
  await db().dyn_db_connections.updateMany({ where, data: { ssh_host_fingerprint: null } });
  const row = (await db().dyn_db_connections.findFirstOrThrow({ where })) as ConnectionRow;
  const access = await readAccess(w.live, row);
  const done: string[] = [];
  const through = ({ target }: JumpHost, name: string) =>
    withDatabase(w.live, { ...access, row: { ...row, ssh_port: target.port } }, async () => void done.push(name));
  await through(first, 'first');
  await assert.rejects(through(second, 'second'), { type: 'ssh_host_key_mismatch', status: 502 });
  await through(first, 'first again');
  assert.deepEqual(done, ['first', 'first again']);
  assert.equal((await db().dyn_db_connections.findFirstOrThrow({ where })).ssh_host_fingerprint, first.fingerprint);
});

test('an SSH key is refused unless it opens with its passphrase and is of a kind that lasts', async () => {
  const w = await workspace();
  const base = { ...(await answering(w.live)), execution_mode: 'ssh_tunnel', ssh_host: '127.0.0.1', ssh_username: 'jump' };
  const sealed = newKey({ cipher: 'aes256-ctr', passphrase: 'open sesame', rounds: 16 }).private;
  const short = ssh2.utils.generateKeyPairSync('rsa', { bits: 1024 }).private;
  for (const key of [
    { ssh_private_key: 'no key' },
    { ssh_private_key: clientKey.public },
    { ssh_private_key: short },
    { ssh_private_key: sealed },
    { ssh_private_key: sealed, ssh_passphrase: 'wrong' },
  ])
    await assert.rejects(made(w.live, 'dyn_db.create', { ...base, ...key }), { type: 'validation_error', message: /^ssh_private_key: / });
  const connection = await created(w.live, await answering(w.live));
  await assert.rejects(made(w.live, 'dyn_db.rotate_ssh_key', { connection, ssh_private_key: clientKey.private }), {
    type: 'validation_error',
    message: /with execution_mode direct/,
  });
});

test('with IAM a credential is the named user and a token of fifteen minutes: nothing is made, renewed or recalled (answers of STS replayed)', async () => {
  const sts = await listen(
    createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/xml' });
      response.end(
        `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIATEST</AccessKeyId><SecretAccessKey>role secret</SecretAccessKey><SessionToken>session</SessionToken><Expiration>${new Date(Date.now() + 900_000).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
      );
    }),
  );
  Object.assign(process.env, {
    ...{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'an operator secret', AWS_EC2_METADATA_DISABLED: 'true' },
    AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${sts}`,
  });
  const w = await workspace();
  const iam = { engine: 'postgres', execution_mode: 'iam', host: server.host, iam_region: 'eu-west-1', iam_db_user: 'app_user' };
  const role_arn = 'arn:aws:iam::999988887777:role/connect';
  const stranger = { role_arn, external_id: 'of-somebody-else' };
  await assert.rejects(made(w.live, 'dyn_db.create', { ...iam, name: fresh('db'), connect_options: stranger }), {
    message: /^connect_options\.external_id: must be that of this workspace/,
  });
  const connection = await created(w.live, { ...iam, name: fresh('db'), connect_options: { role_arn } });
  const role = (input: Record<string, unknown>) => made(w.live, 'dyn_db.create_role', { connection, name: 'app', ...input });
  await assert.rejects(role({ template: 'readonly' }), { type: 'validation_error' });
  await assert.rejects(role({ creation_sql: `CREATE ROLE "{{username}}" PASSWORD '{{password}}'` }), { type: 'validation_error' });
  await role({ max_ttl_seconds: 7_200 });

  const before = Date.now();
  const minted = await made(w.live, 'dyn_db.mint', { connection, role: 'app', ttl_seconds: 7_200 });
  assert.deepEqual([minted.username, minted.ttl_seconds, minted.renewable], ['app_user', 900, false]);
  assert.ok(new Date(minted.expires_at).getTime() <= Date.now() + 900_000 && new Date(minted.expires_at).getTime() > before);
  assert.ok(minted.password.startsWith(`${server.host}:5432/?Action=connect&`), minted.password);
  const { searchParams: query } = new URL(`https://${minted.password}`);
  assert.deepEqual([query.get('DBUser'), query.get('X-Amz-Expires'), query.get('X-Amz-Security-Token')], ['app_user', '900', 'session']);
  const id = String(minted.lease_id);
  await assert.rejects(made(w.live, 'dyn_db.renew', { id }), { type: 'not_renewable', status: 409 });
  const revoked = await made(w.live, 'dyn_db.revoke', { id });
  assert.equal(revoked.revoked, minted.lease_id);
  assert.match(revoked.message, /token can't be recalled/);
  assert.equal((await made(w.live, 'dyn_db.list_leases', {})).total, 0);

  await made(w.live, 'dyn_db.mint', { connection, role: 'app' });
  await sweepKind('dyn_db_lease', new Date(Date.now() + 901_000));
  assert.equal((await leaseOf(w)).status, 'expired');
  assert.equal(await db().dyn_db_leases.count({ where: { tenant_id: w.tenant.id, ended_at: null } }), 0);
});
