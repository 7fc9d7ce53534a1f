import assert from 'node:assert/strict';
import test from 'node:test';
import { movedPlaces } from './moves.ts';
import type { ConnectionOptions } from './schema.ts';
import type { ConnectionRow } from './store.ts';

type Place = Partial<Pick<ConnectionRow, 'engine' | 'host' | 'port' | 'agent_id' | 'connect_options'>>;
const row = (place: Place): ConnectionRow =>
  ({ engine: 'postgres', host: 'db.example.com', port: null, agent_id: null, connect_options: {}, ...place }) as ConnectionRow;
const moves = (from: Place, to: Place) => movedPlaces(row(from), row({ ...from, ...to }));
const options = (from: ConnectionOptions, to: ConnectionOptions, engine: ConnectionRow['engine'] = 'postgres') =>
  moves({ engine, connect_options: from }, { connect_options: to });

test('another host, port or agent is another place; another spelling is not', () => {
  assert.deepEqual(moves({}, { host: 'collect.example.com' }), ['host']);
  assert.deepEqual(moves({}, { host: 'DB.Example.com.' }), []);
  assert.deepEqual(moves({}, { port: 5432 }), [], 'the default port');
  assert.deepEqual(moves({ port: 5432 }, { port: 5433 }), ['port']);
  assert.deepEqual(moves({ port: 5433 }, { port: null }), ['port']);
  assert.deepEqual(moves({ agent_id: 'a' }, { agent_id: 'b' }), ['agent_id']);
  assert.deepEqual(moves({}, { host: 'a.example.com', port: 1 }), ['host', 'port']);
});

test('a weaker check of the certificate moves the password, a stricter one is free', () => {
  const modes = ['disable', undefined, 'verify-ca', 'verify-full'] as const;
  for (const [i, from] of modes.entries())
    for (const [j, to] of modes.entries())
      assert.deepEqual(
        options(from ? { sslmode: from } : {}, to ? { sslmode: to } : {}),
        j < i ? ['connect_options.sslmode'] : [],
        `${from} to ${to}`,
      );
  assert.deepEqual(options({ sslmode: 'require' }, {}), [], 'require is the default');
  assert.deepEqual(options({}, { tls: false }, 'mongo'), ['connect_options.tls']);
  assert.deepEqual(options({ tls: false }, {}, 'mongo'), []);
});

test('a CA counts once certificates are checked: another one, none and a first one change whom the service believes', () => {
  const full = (ca_cert_pem?: string): ConnectionOptions => ({ sslmode: 'verify-full', ...(ca_cert_pem ? { ca_cert_pem } : {}) });
  for (const [from, to] of [
    ['A', 'B'],
    ['A', undefined],
    [undefined, 'A'],
  ] as const)
    assert.deepEqual(options(full(from), full(to)), ['connect_options.ca_cert_pem']);
  assert.deepEqual(options(full('A'), full('A\n')), []);
  assert.deepEqual(options({ ca_cert_pem: 'A' }, { ca_cert_pem: 'B' }), [], 'require believes any certificate');
  assert.deepEqual(options({}, full('A')), [], 'the first check comes with its CA');
  assert.deepEqual(options({ ca_cert_pem: 'A' }, { ca_cert_pem: 'B' }, 'mongo'), ['connect_options.ca_cert_pem'], 'MongoDB always checks');
});

test('SRV looks the servers up under a name, and limits of time say nothing of a place', () => {
  assert.deepEqual(options({}, { srv: true }, 'mongo'), ['connect_options.srv']);
  assert.deepEqual(options({ srv: true }, {}, 'mongo'), ['connect_options.srv']);
  assert.deepEqual(options({}, { connect_timeout_ms: 2_000, statement_timeout_ms: 2_000 }), []);
});
