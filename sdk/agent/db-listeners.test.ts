import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import pg from 'pg';
import { postgresServer } from '#server/platform/databases/postgres/server.fixture.ts';
import { createDbListeners, credentialIn } from './db-listeners.ts';
import type { DbListener } from './protocol.ts';
import { scram } from './scram.ts';

const database = await postgresServer();
const secrets = new Map([['good', JSON.stringify(database.admin)]]);
const logged: string[] = [];
const listeners = createDbListeners({
  open(id) {
    const value = secrets.get(id);
    if (value === undefined) throw new Error('the secret isn’t in the bundle');
    return value;
  },
  log: (message) => logged.push(message),
});
after(() => listeners.close());

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
const listener = (port: number, more: Partial<DbListener> = {}): DbListener => ({
  id: `l${port}`,
  port,
  upstream: { host: database.host, port: 5432, database: 'shop', username: null, tls_mode: 'prefer' },
  engine: 'postgres',
  credential_secret_id: 'good',
  allowed_uids: [],
  ...more,
});
async function asked(port: number, password = 'no password of this database'): Promise<unknown[]> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'anyone', password, database: 'whatever' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query('SELECT current_user AS who, count(*)::int AS orders FROM orders')).rows;
  } finally {
    await client.end();
  }
}

test('a local program without a password works as the user of the secret, by SCRAM and TLS', async () => {
  const [prefer, plain] = [await freePort(), await freePort()];
  const states = await listeners.apply([
    listener(prefer, { upstream: { ...listener(prefer).upstream, tls_mode: 'require' } }),
    listener(plain, { upstream: { ...listener(plain).upstream, tls_mode: 'disable' } }),
  ]);
  assert.deepEqual(
    states.map(({ open, protocol }) => [open, protocol]),
    [
      [true, 'postgres'],
      [true, 'postgres'],
    ],
  );
  for (const port of [prefer, plain]) assert.deepEqual(await asked(port), [{ who: 'broker', orders: 1 }]);
  const busy = await Promise.all(Array.from({ length: 20 }, () => asked(prefer)));
  assert.equal(busy.length, 20);
});

test('a wrong password, a missing secret and another account are refused, and nothing of a secret is said', async () => {
  const [wrong, missing, account] = [await freePort(), await freePort(), await freePort()];
  secrets.set('wrong', JSON.stringify({ username: 'broker', password: 'not the swordfish' }));
  await listeners.apply([
    listener(wrong, { credential_secret_id: 'wrong' }),
    listener(missing, { credential_secret_id: 'missing' }),
    listener(account, { allowed_uids: [4_000_000] }),
  ]);
  await assert.rejects(
    asked(wrong),
    (error: Error) => /password authentication failed/.test(error.message) && !error.message.includes('swordfish'),
  );
  await assert.rejects(asked(missing), /isn’t in the bundle/);
  await assert.rejects(asked(account), /terminated|reset|ECONNRESET/);
});

test('what is gone from the manifest is closed with its connections', async () => {
  const port = await freePort();
  await listeners.apply([listener(port)]);
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'a', database: 'b' });
  const cut = new Promise((resolve) => client.on('error', resolve));
  await client.connect();
  await listeners.apply([]);
  await cut;
  await assert.rejects(asked(port), /ECONNREFUSED/);
});

test('a database of another kind is told as closed', async () => {
  const [state] = await listeners.apply([listener(await freePort(), { engine: 'mysql' })]);
  assert.equal(state?.open, false);
  assert.match(logged.at(-1) ?? '', /mysql have no listener yet/);
});

test('reads credentials as migrations store them', () => {
  const expected = { username: 'app', password: 'p@ss' };
  assert.deepEqual(credentialIn('{"username":"app","password":"p@ss"}', null), expected);
  assert.deepEqual(credentialIn('postgresql://app:p%40ss@db.example.com/shop', null), expected);
  assert.deepEqual(credentialIn('p@ss', 'app'), expected);
  assert.throws(() => credentialIn('p@ss', null), /names no user/);
});

test('proves itself by the vector of RFC 7677, and believes only a server that knows the password', () => {
  const exchange = scram('pencil', 'rOprNGfwEbeRWgbNEkqO');
  const challenge = 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096';
  assert.match(exchange.answer(challenge), /^c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj\)hNlF\$k0,p=/);
  assert.equal(exchange.isServer(`v=${Buffer.alloc(32).toString('base64')}`), false);
  assert.throws(() => scram('pencil', 'mine').answer('r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096'), /isn’t for this connection/);
  assert.throws(() => scram('pencil', 'mine').answer('r=mine+more,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=999999999'), /isn’t for this connection/);
});
