import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import test from 'node:test';
import { createResolver } from '../../http-out/resolver.ts';
import { egressSettings } from '../../http-out/settings.ts';
import { listen, toLoopback } from '../../http-out/upstream.fixture.ts';
import { caPem } from '../certificates.fixture.ts';
import { faultOf, here } from '../databases.fixture.ts';
import type { DatabaseTarget } from '../engine.ts';
import { openDatabase } from '../open.ts';
import { postgresServer } from '../postgres/server.fixture.ts';
import { clientKey, type JumpHost, jumpHost, newKey, noSshd, openSshd } from './hosts.fixture.ts';
import type { SshTarget } from './ssh-target.ts';

const server = await postgresServer();
/** The name of the database means something to the jump host only. */
const inside = { 'db.example.com': { host: server.host, port: 5432 } };
const through = (ssh: SshTarget, more: Partial<DatabaseTarget> = {}, resolver = here) =>
  openDatabase(
    {
      ...{ engine: 'postgres', host: 'db.example.com', port: null, database: 'shop', ...server.admin, ssh },
      options: { sslmode: 'verify-full', ca_cert_pem: caPem, connect_timeout_ms: 10_000 },
      ...more,
    },
    resolver,
  );

async function works(host: JumpHost, more: Partial<DatabaseTarget> = {}) {
  const session = await through(host.target, more);
  assert.equal(session.hostKey, host.fingerprint, 'the key that was seen is reported, to be pinned');
  assert.deepEqual(await session.run('SELECT id FROM orders'), [{ id: 1 }]);
  await session.close();

  const pinned = await through({ ...host.target, fingerprint: host.fingerprint }, more);
  await pinned.close();
  const other = `SHA256:${'A'.repeat(43)}`;
  const fault = await faultOf(through({ ...host.target, fingerprint: other }, more));
  assert.deepEqual([fault.type, fault.stage, fault.hostKey], ['ssh_host_key_mismatch', 'ssh', host.fingerprint]);

  const stranger = newKey().private;
  const refused = await faultOf(through({ ...host.target, privateKey: stranger }, more));
  assert.deepEqual(
    [refused.type, refused.stage, refused.text],
    ['database_unreachable', 'ssh', 'The SSH host did not accept the private key.'],
  );
}

test('a database is reached through a jump host, whose key is pinned at the first use (SSH server of the driver)', async () => {
  const host = await jumpHost(inside);
  await works(host);
  assert.ok(host.forwarded.every(({ host, port }) => host === 'db.example.com' && port === 5432));
});

test('a database is reached through a jump host, whose key is pinned at the first use (OpenSSH)', { skip: noSshd }, async () => {
  // OpenSSH resolves names by itself, and knows ours not: it is told the address.
  await works(await openSshd(), { host: server.host, options: { sslmode: 'verify-ca', ca_cert_pem: caPem, connect_timeout_ms: 10_000 } });
});

test('a tunnel ends with its session, also when the login behind it fails', async () => {
  const host = await jumpHost(inside);
  const wrong = await faultOf(through(host.target, { password: 'wrong' }));
  assert.deepEqual([wrong.type, wrong.stage, wrong.code], ['database_error', 'auth', '28P01']);
  const closed = await faultOf(through(host.target, { host: 'nowhere.example.com' }));
  assert.deepEqual([closed.type, closed.stage, closed.text], ['database_unreachable', 'tcp', 'The SSH host could not reach the database.']);
});

test('a key that can not be used is refused before anything is sent', async () => {
  const host = await jumpHost(inside);
  const sealed = newKey({ cipher: 'aes256-ctr', passphrase: 'open', rounds: 16 }).private;
  const fault = await faultOf(through({ ...host.target, privateKey: sealed, passphrase: 'wrong' }));
  assert.deepEqual([fault.stage, fault.text], ['ssh', 'The passphrase does not open the private key.']);
});

test('a jump host that says nothing, drips, or talks nonsense is given up in time', async () => {
  const hosts = {
    silent: createServer((socket) => socket.on('error', () => undefined)),
    dripping: createServer((socket) => {
      socket.on('error', () => undefined);
      const drip = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(drip));
    }),
    flooding: createServer((socket) => {
      socket.on('error', () => undefined);
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 0x61)));
      };
      socket.on('drain', more);
      more();
    }),
    nonsense: createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write(`SSH-2.0-x\r\n${'\x00\x00\x00\x0c\x0a\x14'.repeat(2_000)}`);
    }),
  };
  for (const [what, host] of Object.entries(hosts)) {
    const ssh: SshTarget = {
      host: 'jump.example.com',
      port: await listen(host),
      username: 'jump',
      privateKey: clientKey.private,
      fingerprint: null,
    };
    const fault = await faultOf(through(ssh, { options: { connect_timeout_ms: 1_000 } }));
    assert.equal(fault.stage, 'ssh', `${what}: ${fault.stack}`);
  }
});

test('the address of the jump host passes the guard', async () => {
  const host = await jumpHost(inside);
  const closed = createResolver({ settings: egressSettings({}), resolve: toLoopback });
  for (const name of ['127.0.0.1', '169.254.169.254', 'jump.example.com', '10.0.0.1', 'localhost', '[::1]']) {
    const fault = await faultOf(through({ ...host.target, host: name }, {}, closed));
    assert.deepEqual(
      [fault.type, fault.stage, fault.text],
      ['database_unreachable', 'ssh', `The host ${name} is not reachable from this deployment.`],
    );
  }
  assert.deepEqual(host.forwarded, []);
});
