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
  assert.match(session.serverVersion, /^7\./);
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

test('the admin changes its own password, a renewal needs no command, and a wrong one tells nothing (FerretDB)', options, async () => {
  const session = await open();
  assert.equal(await session.extendUser(mintedName(), new Date()), false);
  assert.equal((await session.run('{"ping":1}'))[0]?.ok, 1);
  await session.setOwnPassword('A-new-password_of-32-characters0');
  await session.close();
  const fault = await faultOf(open());
  assert.deepEqual([fault.type, fault.stage, fault.code, fault.text], ['database_error', 'auth', '18', 'Authentication failed.']);
  const again = await open({ password: 'A-new-password_of-32-characters0' });
  const old = server?.admin.password ?? '';
  await again.run(JSON.stringify({ ping: 1 }));
  await again.close();
  assert.ok(!JSON.stringify(fault).includes(old));
});

test('the certificate is checked unless TLS is off (FerretDB)', options, async () => {
  const password = 'A-new-password_of-32-characters0';
  const tried = async (host: string, port: number | undefined, more: DatabaseTarget['options']) =>
    (await open({ host, port: port ?? 0, password, options: more })).close();
  await tried('db.example.com', server?.tlsPort, { ca_cert_pem: caPem });
  await tried('db.example.com', server?.port, { tls: false });
  const refused: [string, string, number | undefined, DatabaseTarget['options'], RegExp][] = [
    ['another name', 'other.example.com', server?.tlsPort, { ca_cert_pem: caPem }, /for another name/],
    ['an address', '127.0.0.1', server?.tlsPort, { ca_cert_pem: caPem }, /for another name/],
    ['another CA', 'db.example.com', server?.tlsPort, { ca_cert_pem: otherCaPem }, /not issued by a CA/],
    ['the roots of the system', 'db.example.com', server?.tlsPort, {}, /not issued by a CA/],
    ['a server without TLS', 'db.example.com', server?.port, { ca_cert_pem: caPem }, /TLS handshake/],
  ];
  for (const [what, host, port, more, text] of refused) {
    const fault = await faultOf(tried(host, port, { ...more, connect_timeout_ms: 3_000 }));
    assert.deepEqual([what, fault.type, fault.stage], [what, 'database_unreachable', 'tls']);
    assert.match(`${what}: ${fault.text}`, text);
  }
});
