import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import test from 'node:test';
import { createResolver } from '../../http-out/resolver.ts';
import { egressSettings } from '../../http-out/settings.ts';
import { listen, toLoopback } from '../../http-out/upstream.fixture.ts';
import { faultOf, here, mintedName, PASSWORD } from '../databases.fixture.ts';
import type { DatabaseTarget } from '../engine.ts';
import { jumpHost } from '../ssh/hosts.fixture.ts';
import { BadFrame, frameCheck } from './frames.ts';
import { openMongo } from './open.ts';
import { failure, replayServer } from './replay.fixture.ts';

// These run against a server in this process that replays the protocol, not against MongoDB.

const target = (port: number, more: Partial<DatabaseTarget> = {}): DatabaseTarget => ({
  ...{ engine: 'mongo', host: 'db.example.com', port, database: 'shop', username: 'broker', password: 'admin-password' },
  options: { tls: false, connect_timeout_ms: 60_000, statement_timeout_ms: 1_000 },
  ...more,
});
const RIGHTS = '{"roles":[{"role":"read","db":"shop"}],"mechanisms":["SCRAM-SHA-256"]}';
const SILENT = ['database_timeout', 'The database did not answer in time.'];
const names = (commands: readonly object[]) => commands.map((command) => Object.keys(command)[0]);

test('a user is minted with the rights of the document and removed with its sessions (replayed MongoDB)', async () => {
  const server = await replayServer();
  const session = await openMongo(target(server.port), here);
  assert.deepEqual([session.serverVersion, session.engine, session.hostKey], ['7.0.14', 'mongo', null]);
  const username = mintedName();
  await session.createUser({ username, password: PASSWORD }, [RIGHTS]);
  const { createUser, pwd, roles, mechanisms, $db, maxTimeMS } = server.commands[0] ?? {};
  assert.deepEqual(
    { createUser, pwd, roles, mechanisms, $db, maxTimeMS },
    {
      ...{
        createUser: username,
        pwd: PASSWORD,
        roles: [{ role: 'read', db: 'shop' }],
        mechanisms: ['SCRAM-SHA-256'],
        $db: 'shop',
        maxTimeMS: 1_000,
      },
    },
  );
  const user = await openMongo(target(server.port, { username, password: PASSWORD, options: { tls: false, auth_source: 'shop' } }), here);
  await user.close();
  server.commands.length = 0;
  await session.dropUser(username, null);
  await session.dropUser(username, null);
  assert.deepEqual(names(server.commands), [
    ...['killAllSessionsByPattern', 'dropUser', 'killAllSessionsByPattern'],
    ...['killAllSessionsByPattern', 'dropUser', 'killAllSessionsByPattern'],
  ]);
  assert.deepEqual(server.commands[0]?.killAllSessionsByPattern, [{ users: [{ user: username, db: 'shop' }] }]);
  assert.equal(server.commands[0]?.$db, 'admin');
  await session.setOwnPassword('A-new-password_of-32-characters0');
  await session.close();
  assert.equal((await faultOf(openMongo(target(server.port), here))).code, '18');
  await (await openMongo(target(server.port, { password: 'A-new-password_of-32-characters0' }), here)).close();
});

test('sessions that may not be cut do not keep a user alive; any other refusal is told (replayed MongoDB)', async () => {
  const server = await replayServer();
  const session = await openMongo(target(server.port), here);
  const username = mintedName();
  await session.createUser({ username, password: PASSWORD }, [RIGHTS]);
  server.answer = (name) => (name === 'killAllSessionsByPattern' ? failure(13, 'Unauthorized', 'not authorized') : undefined);
  await session.dropUser(username, null);
  assert.equal(await session.userExists(username), false);
  server.answer = (name) =>
    name === 'dropUser' ? failure(13, 'Unauthorized', `not authorized on shop to drop ${username} pwd ${PASSWORD}`) : undefined;
  const fault = await faultOf(session.dropUser(username, null));
  assert.deepEqual([fault.type, fault.code, fault.text], ['database_error', '13', 'not authorized on shop to drop *** pwd ***']);
  await session.close();
});

test('a document with another key never becomes an argument of the command (replayed MongoDB)', async () => {
  const server = await replayServer();
  const session = await openMongo(target(server.port), here);
  for (const text of [
    '{"roles":[],"pwd":"mine"}',
    '{"roles":[],"createUser":"root"}',
    '{"roles":[],"$db":"admin"}',
    '{"roles":[],"writeConcern":{"w":0}}',
    '{"dropAllUsersFromDatabase":1}',
    '[]',
    'null',
    '{',
    '"x"',
  ]) {
    const fault = await faultOf(session.createUser({ username: mintedName(), password: PASSWORD }, [text]));
    assert.deepEqual([fault.type, fault.statement], ['database_error', 1], text);
  }
  assert.deepEqual(server.commands, []);
  await session.close();
});

test('missing privileges are read from the connection status (replayed MongoDB)', async () => {
  const server = await replayServer();
  const status = (privileges: object[]) => {
    server.answer = (name) => (name === 'connectionStatus' ? { ok: 1, authInfo: { authenticatedUserPrivileges: privileges } } : undefined);
  };
  const session = await openMongo(target(server.port), here);
  status([]);
  assert.deepEqual(await session.missingPrivileges('readwrite'), [
    ...['createUser', 'dropUser', 'grantRole', 'viewUser'].map((action) => `${action} on database shop`),
    'killAnySession on the cluster',
  ]);
  status([
    { resource: { db: 'shop', collection: '' }, actions: ['createUser', 'dropUser', 'viewUser'] },
    { resource: { db: 'other', collection: '' }, actions: ['grantRole'] },
    { resource: { cluster: true }, actions: ['killAnySession'] },
  ]);
  assert.deepEqual(await session.missingPrivileges('readwrite'), ['grantRole on database shop']);
  await session.close();
});

test('the primary that a member names is called only after the guard has judged it (replayed MongoDB)', async () => {
  const [secondary, primary] = [await replayServer(), await replayServer()];
  const settings = egressSettings({ privateAllowlist: [{ cidr: '127.0.0.1/32' }] });
  const narrow = createResolver({ settings, resolve: toLoopback });
  const member = (name: string) => {
    secondary.hello = { isWritablePrimary: false, ismaster: false, secondary: true, setName: 'rs0', hosts: [name], primary: name };
  };
  primary.hello = { setName: 'rs0' };
  member(`primary.example.com:${primary.port}`);
  const session = await openMongo(target(secondary.port, { options: { tls: false, replica_set: 'rs0' } }), narrow);
  await session.createUser({ username: mintedName(), password: PASSWORD }, [RIGHTS]);
  assert.deepEqual([names(primary.commands), names(secondary.commands)], [['createUser'], []]);
  await session.close();

  const inside = createServer((socket) => {
    assert.fail('called');
    socket.destroy();
  });
  inside.listen(0, '127.0.0.2');
  await new Promise((resolve) => inside.once('listening', resolve));
  const { port } = inside.address() as { port: number };
  for (const name of [
    `127.0.0.2:${port}`,
    '169.254.169.254:80',
    '[::ffff:169.254.169.254]:80',
    'metadata.google.internal:80',
    'localhost.localdomain:1',
  ]) {
    member(name);
    const fault = await faultOf(openMongo(target(secondary.port), narrow));
    assert.deepEqual([fault.type, fault.stage], ['database_unreachable', 'tcp'], `${name}: ${fault.text}`);
  }
  inside.close();
  for (const name of ['', 'a b:1', 'x:99999', 'http://x', '/etc/x.sock', '%2Ftmp%2Fx.sock']) {
    member(name);
    const fault = await faultOf(openMongo(target(secondary.port), narrow));
    assert.equal(fault.type, 'database_unreachable', name);
  }
  // Two that name each other.
  member(`again.example.com:${secondary.port}`);
  assert.equal((await faultOf(openMongo(target(secondary.port), narrow))).text, 'No primary of the replica set is known.');
  const other = await faultOf(openMongo(target(primary.port, { options: { tls: false, replica_set: 'rs1' } }), narrow));
  assert.equal(other.text, 'The host is not of that replica set.');
});

test('of several hosts the first that works is used; a refused login is not tried at the next (replayed MongoDB)', async () => {
  const server = await replayServer();
  const list = `gone.example.com:1,db.example.com:${server.port}`;
  await (await openMongo(target(27017, { host: list }), here)).close();
  let logins = 0;
  server.answer = (name) => {
    if (name === 'saslContinue') logins++;
    return undefined;
  };
  const fault = await faultOf(
    openMongo(target(27017, { host: `a.example.com:${server.port},b.example.com:${server.port}`, password: 'wrong' }), here),
  );
  assert.deepEqual([fault.type, fault.stage, fault.code, logins], ['database_error', 'auth', '18', 1]);
});

test('an SRV name leads to hosts of its own domain alone (replayed MongoDB)', async () => {
  const server = await replayServer();
  const srv = { options: { tls: false, srv: true }, host: 'cluster.shop.example.com', port: null };
  const asked: string[] = [];
  const answer = (name: string) => async (question: string) => {
    asked.push(question);
    return [{ name, port: server.port }];
  };
  await (await openMongo(target(0, srv), here, answer('m0.shop.example.com'))).close();
  assert.deepEqual(asked, ['_mongodb._tcp.cluster.shop.example.com']);
  for (const name of ['m0.evil.example', 'example.com', 'xshop.example.com', '169.254.169.254']) {
    const fault = await faultOf(openMongo(target(0, srv), here, answer(name)));
    assert.deepEqual([fault.stage, fault.text], ['dns', 'The SRV record names hosts of another domain.'], name);
  }
  const none = await faultOf(openMongo(target(0, srv), here, () => Promise.reject(new Error('ENODATA'))));
  assert.equal(none.text, 'There is no SRV record of that name.');
  const never = await faultOf(
    openMongo(target(0, { ...srv, options: { ...srv.options, connect_timeout_ms: 300 } }), here, () => new Promise(() => undefined)),
  );
  assert.equal(never.type, 'database_timeout');
});

test('a login that asks for endless work, or a message without end, is refused at once (replayed MongoDB)', async () => {
  const server = await replayServer();
  for (const iterations of ['4294967295', '100001', ' 99999999', '+99999999', '\u00a099999999']) {
    server.iterations = iterations;
    const fault = await faultOf(openMongo(target(server.port), here));
    assert.deepEqual(
      [fault.stage, fault.text],
      ['auth', 'The database asks for more work at its login than is done.'],
      JSON.stringify(iterations),
    );
  }
  const hostile = {
    silent: createServer((socket) => socket.on('error', () => undefined)),
    dripping: createServer((socket) => {
      socket.on('error', () => undefined);
      const drip = setInterval(() => socket.write('\0'), 20);
      socket.on('close', () => clearInterval(drip));
    }),
    nonsense: createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write(Buffer.alloc(200, 0xff)));
    }),
    endless: createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        const head = Buffer.alloc(16);
        head.writeInt32LE(2_000_000_000, 0);
        socket.write(head);
        const more = () => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
        };
        socket.on('drain', more);
        more();
      });
    }),
  };
  for (const [what, one] of Object.entries(hostile)) {
    const fault = await faultOf(openMongo(target(await listen(one), { options: { tls: false, connect_timeout_ms: 1_000 } }), here));
    assert.deepEqual([fault.type, fault.text], what === 'silent' ? SILENT : ['database_unreachable', 'This is not MongoDB.'], what);
  }
});

test('messages without length, too long or compressed never reach the driver, however they are cut into pieces', () => {
  const header = (length: number, code: number) => {
    const bytes = Buffer.alloc(16);
    bytes.writeInt32LE(length, 0);
    bytes.writeInt32LE(code, 12);
    return bytes;
  };
  const good = Buffer.concat([header(20, 2013), Buffer.alloc(4, 1), header(17, 1), Buffer.alloc(1, 2)]);
  for (let size = 1; size <= good.length; size++) {
    const check = frameCheck();
    const out: Buffer[] = [];
    for (let at = 0; at < good.length; at += size) out.push(check(good.subarray(at, at + size)));
    assert.deepEqual(Buffer.concat(out), good);
  }
  for (const bad of [header(0, 2013), header(16, 2013), header(-1, 2013), header(4_194_305, 2013), header(40, 2012), header(40, 2004)])
    for (let size = 1; size <= 16; size++) {
      const check = frameCheck();
      assert.throws(() => {
        for (let at = 0; at < bad.length; at += size) check(bad.subarray(at, at + size));
      }, BadFrame);
    }
});

test('MongoDB is reached through a jump host (replayed MongoDB, SSH server of the driver)', async () => {
  const server = await replayServer();
  const host = await jumpHost({ 'db.example.com': { host: '127.0.0.1', port: server.port } });
  const session = await openMongo(target(27017, { ssh: host.target }), here);
  assert.equal(session.hostKey, host.fingerprint);
  await session.createUser({ username: mintedName(), password: PASSWORD }, [RIGHTS]);
  assert.deepEqual(names(server.commands), ['createUser']);
  assert.ok(host.forwarded.every((one) => one.host === 'db.example.com' && one.port === 27017));
  await session.close();
});
