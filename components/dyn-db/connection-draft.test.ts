import assert from 'node:assert/strict';
import test from 'node:test';
import { CreateDynDbConnection } from '#server/domain/dyn-db/schema.ts';
import { bodyOf, changesOf, type Draft, EMPTY, NewConnection, targetOf } from './connection-draft.ts';
import type { Connection } from './labels.ts';

const filled: Draft = {
  ...EMPTY,
  name: 'orders',
  host: 'db.example.com',
  port: '5433',
  database_name: 'orders',
  admin_username: 'sallyport',
  admin_password: 'p',
  ssh_host: 'bastion.example.com',
  ssh_username: 'tunnel',
  ssh_private_key: 'key',
  ssh_passphrase: 'x',
  iam_region: 'eu-central-1',
  iam_db_user: 'app',
  agent_id: '00000000-0000-4000-8000-000000000001',
  role_arn: 'arn:aws:iam::123456789012:role/x',
  user_host: '10.%',
  replica_set: 'rs0',
};

test('what belongs to another mode or engine is not sent, and the API takes what is', () => {
  const direct = { name: 'orders', engine: 'postgres', host: 'db.example.com', port: 5433, database_name: 'orders' };
  const admin = { admin_username: 'sallyport', admin_password: 'p' };
  const ssh = { ssh_host: 'bastion.example.com', ssh_username: 'tunnel', ssh_private_key: 'key', ssh_passphrase: 'x' };
  assert.deepEqual(bodyOf(filled), { ...direct, ...admin });
  assert.deepEqual(bodyOf({ ...filled, execution_mode: 'ssh_tunnel' }), { ...direct, execution_mode: 'ssh_tunnel', ...admin, ...ssh });
  const agent_id = '00000000-0000-4000-8000-000000000001';
  assert.deepEqual(bodyOf({ ...filled, execution_mode: 'agent_tunnel' }), {
    ...direct,
    execution_mode: 'agent_tunnel',
    ...admin,
    agent_id,
  });
  assert.deepEqual(bodyOf({ ...filled, execution_mode: 'iam' }), {
    ...direct,
    execution_mode: 'iam',
    iam_region: 'eu-central-1',
    iam_db_user: 'app',
    connect_options: { role_arn: 'arn:aws:iam::123456789012:role/x' },
  });
  assert.deepEqual(bodyOf({ ...filled, engine: 'mysql' }).connect_options, { user_host: '10.%' });
  assert.deepEqual(bodyOf({ ...filled, engine: 'mongo', srv: true, tls: false }).connect_options, {
    tls: false,
    srv: true,
    replica_set: 'rs0',
  });
  for (const execution_mode of ['direct', 'ssh_tunnel', 'iam'] as const)
    for (const engine of ['postgres', 'mysql'] as const)
      CreateDynDbConnection.parse(bodyOf({ ...filled, execution_mode, engine, default_ttl_seconds: '15m', max_ttl_seconds: '8h' }));
});

test('a form names what its mode needs and still lacks', () => {
  const missing = (draft: Draft) => {
    const { error } = NewConnection.safeParse(draft);
    return error?.issues.map(({ path }) => path.join('.')) ?? [];
  };
  assert.deepEqual(missing(filled), []);
  const blank = { ...EMPTY, name: 'a', host: 'b' };
  assert.deepEqual(missing(blank), ['admin_username', 'admin_password']);
  assert.deepEqual(missing({ ...blank, execution_mode: 'iam' }), ['iam_region', 'iam_db_user', 'role_arn']);
  assert.deepEqual(missing({ ...blank, execution_mode: 'ssh_tunnel' }), [
    'admin_username',
    'admin_password',
    'ssh_host',
    'ssh_username',
    'ssh_private_key',
  ]);
  for (const [field, value] of Object.entries({
    name: 'Orders',
    host: ' ',
    port: '0',
    default_ttl_seconds: '5s',
    max_ttl_seconds: '',
    database_name: 'a b',
  }))
    assert.deepEqual(missing({ ...filled, [field]: value }), [field]);
});

test('only what was changed is sent, and options that the form does not show stay', () => {
  const connection = {
    engine: 'postgres',
    execution_mode: 'direct',
    host: 'db',
    port: null,
    database_name: null,
    admin_username: 'a',
    default_ttl_seconds: 3_600,
    max_ttl_seconds: 86_400,
    connect_options: { connect_timeout_ms: 5_000, sslmode: 'verify-full' },
  } as Partial<Connection> as Connection;
  const before = targetOf(connection);
  assert.deepEqual(changesOf(before, before, connection), {});
  assert.deepEqual(changesOf({ ...before, port: '6432', max_ttl_seconds: '2d' }, before, connection), {
    port: 6_432,
    max_ttl_seconds: 172_800,
  });
  assert.deepEqual(changesOf({ ...before, sslmode: 'require' }, before, connection), { connect_options: { connect_timeout_ms: 5_000 } });
  const named = { ...connection, port: 1, database_name: 'x' };
  assert.deepEqual(changesOf({ ...targetOf(named), port: '', database_name: '' }, targetOf(named), named), {
    port: null,
    database_name: null,
  });
});
