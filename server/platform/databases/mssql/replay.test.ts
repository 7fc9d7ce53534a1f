import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import test from 'node:test';
import { createResolver } from '../../http-out/resolver.ts';
import { egressSettings } from '../../http-out/settings.ts';
import { listen, toLoopback } from '../../http-out/upstream.fixture.ts';
import { caPem, certificate, otherCaPem } from '../certificates.fixture.ts';
import { faultOf, here, mintedName, PASSWORD } from '../databases.fixture.ts';
import type { DatabaseTarget } from '../engine.ts';
import { openDatabase } from '../open.ts';
import { replayServer } from './replay.fixture.ts';

// These run against a server in this process that replays TDS, not against SQL Server.

const target = (port: number, more: Partial<DatabaseTarget> = {}): DatabaseTarget => ({
  ...{ engine: 'mssql', host: 'db.example.com', port, database: 'shop', username: 'bro]ker', password: 'admin-password' },
  options: { sslmode: 'disable', connect_timeout_ms: 60_000, statement_timeout_ms: 60_000 },
  ...more,
});
const creation = (name: string) => [
  `CREATE LOGIN [${name}] WITH PASSWORD = '${PASSWORD}'`,
  `CREATE USER [${name}] FOR LOGIN [${name}]`,
  `ALTER ROLE db_datareader ADD MEMBER [${name}]`,
];

test('a user is minted in one transaction and removed with its sessions (replayed SQL Server)', async () => {
  const server = await replayServer();
  server.answer = (batch) => (batch.includes('ProductVersion') ? [{ version: '16.0.4135.4' }] : undefined);
  const session = await openDatabase(target(server.port), here);
  assert.deepEqual(
    [session.engine, session.serverVersion, server.logins],
    ['mssql', '16.0.4135.4', [{ username: 'bro]ker', password: 'admin-password' }]],
  );
  const name = mintedName();
  server.batches.length = 0;
  await session.createUser({ username: name, password: PASSWORD }, creation(name));
  const label = Buffer.from(`sallyport ${name}`).toString('hex');
  assert.deepEqual(server.batches, [`SET CONTEXT_INFO 0x${label}`, 'BEGIN TRANSACTION', ...creation(name), 'COMMIT TRANSACTION']);

  server.batches.length = 0;
  let dropped = 0;
  server.answer = (batch) => {
    if (batch.includes('login_name = N')) return [{ session_id: '51' }, { session_id: '52' }];
    if (batch === 'KILL 52') return { error: 6106, message: 'Process ID 52 is not an active process ID.' };
    if (batch.includes('DROP LOGIN') && dropped++ === 0)
      return { error: 15434, message: `Could not drop login '${name}' as the user is currently logged in.` };
    return undefined;
  };
  await session.dropUser(name, null);
  const short = server.batches.map((batch) =>
    batch
      .replace(/^IF EXISTS \(.*\) (?=[AD])/, '')
      .replace(/\s+/g, ' ')
      .slice(0, 40),
  );
  assert.deepEqual(short, [
    'SELECT session_id FROM sys.dm_exec_sessi',
    `ALTER LOGIN [${name}] DISABLE`.slice(0, 40),
    'SELECT session_id FROM sys.dm_exec_sessi',
    'KILL 51',
    'KILL 52',
    `DROP USER IF EXISTS [${name}]`.slice(0, 40),
    `DROP LOGIN [${name}]`.slice(0, 40),
    'SELECT session_id FROM sys.dm_exec_sessi',
    'KILL 51',
    'KILL 52',
    `DROP LOGIN [${name}]`.slice(0, 40),
  ]);
  server.batches.length = 0;
  await session.setOwnPassword('A-new-password_of-32-characters0');
  assert.deepEqual(server.batches, [
    "ALTER LOGIN [bro]]ker] WITH PASSWORD = N'A-new-password_of-32-characters0' OLD_PASSWORD = N'admin-password'",
  ]);
  await session.close();
});

test('a creation that fails is rolled back, and what is told names neither user nor password (replayed SQL Server)', async () => {
  const server = await replayServer();
  const session = await openDatabase(target(server.port), here);
  const name = mintedName();
  server.answer = (batch) =>
    batch.startsWith('CREATE USER') ? { error: 15023, message: `User '${name}' with '${PASSWORD}' already exists` } : undefined;
  const fault = await faultOf(session.createUser({ username: name, password: PASSWORD }, creation(name)));
  assert.deepEqual(
    [fault.type, fault.stage, fault.code, fault.statement, fault.text],
    ['database_error', 'statement', '15023', 2, "User '***' with '***' already exists"],
  );
  assert.equal(server.batches.at(-1), 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION');
  await session.close();
  const refused = await faultOf(openDatabase(target(server.port, { password: 'wrong-password' }), here));
  assert.deepEqual(
    [refused.type, refused.stage, refused.code, refused.text],
    ['database_error', 'auth', '18456', "Login failed for user '***'."],
  );
});

test('missing rights and minted logins are read as SQL Server tells them (replayed SQL Server)', async () => {
  const server = await replayServer();
  const session = await openDatabase(target(server.port), here);
  server.answer = () => [{ logins: '1', kills: '0', sees: '1', users: '1', owner: '0', db: 'shop' }];
  assert.deepEqual(await session.missingPrivileges('readwrite'), ['ALTER ANY CONNECTION', 'db_owner of database [shop]']);
  server.answer = () => [{ name: 'svc_b_aaaaaaaaaa_t8aeo0' }, { name: 'svc_a_aaaaaaaaaa_t8aeo0' }];
  assert.deepEqual(await session.mintedUsers(), ['svc_a_aaaaaaaaaa_t8aeo0', 'svc_b_aaaaaaaaaa_t8aeo0']);
  await session.close();
});

test('a statement without an answer ends in time (replayed SQL Server)', async () => {
  const server = await replayServer();
  const options = { sslmode: 'disable', connect_timeout_ms: 60_000, statement_timeout_ms: 1_000 } as const;
  const session = await openDatabase(target(server.port, { options }), here);
  server.answer = () => 'silence';
  assert.equal((await faultOf(session.run('SELECT 1'))).type, 'database_timeout');
  await session.close();
});

test('sslmode decides what certificate is believed (replayed SQL Server)', async () => {
  const server = await replayServer(await certificate('db.example.com'));
  const plain = await replayServer();
  const tried = async (host: string, options: DatabaseTarget['options'], port = server.port) =>
    (await openDatabase(target(port, { host, options: { connect_timeout_ms: 60_000, ...options } }), here)).close();
  await tried('other.example.com', {});
  await tried('db.example.com', { sslmode: 'verify-full', ca_cert_pem: caPem });
  const refused: [string, string, DatabaseTarget['options'], number, RegExp][] = [
    ['another name', 'other.example.com', { sslmode: 'verify-full', ca_cert_pem: caPem }, server.port, /for another name/],
    ['another name by verify-ca', 'other.example.com', { sslmode: 'verify-ca', ca_cert_pem: caPem }, server.port, /for another name/],
    ['an address', '127.0.0.1', { sslmode: 'verify-full', ca_cert_pem: caPem }, server.port, /for another name/],
    ['another CA', 'db.example.com', { sslmode: 'verify-full', ca_cert_pem: otherCaPem }, server.port, /not issued by a CA/],
    ['a server without TLS', 'db.example.com', {}, plain.port, /does not offer TLS/],
  ];
  server.logins.length = 0;
  for (const [what, host, options, port, text] of refused) {
    const fault = await faultOf(tried(host, options, port));
    assert.deepEqual([what, fault.type, fault.stage], [what, 'database_unreachable', 'tls'], fault.text);
    assert.match(`${what}: ${fault.text}`, text);
  }
  assert.deepEqual([server.logins, plain.logins], [[], []], 'no password was sent');
});

test('where a server sends us to passes the guard (replayed SQL Server)', async () => {
  const [first, second] = [await replayServer(), await replayServer()];
  const narrow = createResolver({ settings: egressSettings({ privateAllowlist: [{ cidr: '127.0.0.1/32' }] }), resolve: toLoopback });
  first.route = { host: 'node.example.com', port: second.port };
  await (await openDatabase(target(first.port), narrow)).close();
  assert.equal(second.logins.length, 1);
  for (const host of ['169.254.169.254', '127.0.0.2', 'metadata.google.internal']) {
    first.route = { host, port: 80 };
    const fault = await faultOf(openDatabase(target(first.port), narrow));
    assert.deepEqual([fault.type, fault.stage], ['database_unreachable', 'tcp'], host);
  }
});

test('a server that says nothing, drips or floods is given up in time', async () => {
  const hostile = {
    silent: createServer((socket) => socket.on('error', () => undefined)),
    dripping: createServer((socket) => {
      socket.on('error', () => undefined);
      const drip = setInterval(() => socket.write('\x04'), 20);
      socket.on('close', () => clearInterval(drip));
    }),
    nonsense: createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write(Buffer.alloc(500, 0xff)));
    }),
    zeros: createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write(Buffer.alloc(500)));
    }),
    flooding: createServer((socket) => {
      socket.on('error', () => undefined);
      const one = Buffer.alloc(4_096, 0x01);
      one.writeUInt16BE(4_096, 2);
      one[0] = 4;
      one[1] = 0;
      const more = () => {
        while (!socket.destroyed && socket.write(one));
      };
      socket.on('drain', more);
      socket.once('data', more);
    }),
  };
  for (const [what, one] of Object.entries(hostile)) {
    const fault = await faultOf(
      openDatabase(target(await listen(one), { options: { sslmode: 'disable', connect_timeout_ms: 1_000 } }), here),
    );
    assert.match(fault.type, /^database_(?:timeout|unreachable)$/, what);
  }
});
