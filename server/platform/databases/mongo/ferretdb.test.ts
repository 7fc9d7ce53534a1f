import assert from 'node:assert/strict';
import test from 'node:test';
import { caPem, otherCaPem } from '../certificates.fixture.ts';
import { faultOf, here, mintedName, PASSWORD } from '../databases.fixture.ts';
import type { DatabaseTarget } from '../engine.ts';
import { openDatabase } from '../open.ts';
import { ferretServer, noFerretdb } from './ferretdb.fixture.ts';

const server = noFerretdb ? undefined : await ferretServer();
const options = { skip: noFerretdb };
const target = (more: Partial<DatabaseTarget> = {}): DatabaseTarget => ({
  engine: 'mongo',
  host: 'db.example.com',
  port: server?.tlsPort ?? 0,
  database: 'shop',
  username: server?.admin.username ?? '',
  password: server?.admin.password ?? '',
  options: { ca_cert_pem: caPem, statement_timeout_ms: 5_000 },
  ...more,
});
const open = (more: Partial<DatabaseTarget> = {}) => openDatabase(target(more), here);
const as = (username: string, password = PASSWORD) => open({ username, password, options: { ca_cert_pem: caPem, auth_source: 'shop' } });
const RIGHTS = '{"roles":[],"mechanisms":["SCRAM-SHA-256"]}';

test('an admin mints a user who logs in, and removes it (FerretDB)', options, async () => {
  const session = await open();
  console.log(session.serverVersion, await session.missingPrivileges());
  const username = mintedName();
  await session.createUser({ username, password: PASSWORD }, [RIGHTS]);
  assert.deepEqual([await session.userExists(username), await session.mintedUsers()], [true, [username]]);
  const user = await as(username);
  await user.close();
  const twice = await faultOf(session.createUser({ username, password: PASSWORD }, [RIGHTS]));
  assert.deepEqual([twice.type, twice.code, twice.statement], ['database_error', '51003', 1]);
  assert.ok(!twice.text.includes(username), twice.text);
  await session.dropUser(username, null);
  await session.dropUser(username, null);
  assert.deepEqual([await session.userExists(username), await session.mintedUsers()], [false, []]);
  const refused = await faultOf(as(username));
  assert.deepEqual([refused.type, refused.stage, refused.code], ['database_error', 'auth', '18']);
  await session.close();
});
