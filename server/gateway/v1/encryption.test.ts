import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, startGateway } from '../gateway.fixture.ts';
import { startWeb } from './web.fixture.ts';

await testDatabase({ SVC_GATEWAYS: '1' });
const web = await startWeb();
const { gateway } = await startGateway();
const port = (await gateway.listen('api', 0, '127.0.0.1')).port;
const w = await workspace();
const { text: key } = await w.key();

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  ask(port, 'api', `/v1${path}`, {
    method: 'POST',
    body,
    headers: { host: `localhost:${port}`, authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
  });

test('JSON is encrypted and decrypted without web, and no digit or name changes on the way', async () => {
  const before = web.seen.length;
  const sealed = await post('/encrypt', '{"data":{"2":1299.10,"1":[9007199254740993,{"__proto__":null}]},"role":"pci"}');
  assert.equal(sealed.status, 200, sealed.body);
  const { ciphertext } = JSON.parse(sealed.body).data;
  const opened = await post('/decrypt', `{"role":"pci","data":${/"ciphertext":(.*),"key":/.exec(sealed.body)?.[1]}}`);
  assert.ok(
    opened.body.startsWith('{"data":{"plaintext":{"2":1299.10,"1":[9007199254740993,{"__proto__":null}]},"decrypted":3}'),
    opened.body,
  );
  assert.equal((await post('/inspect', JSON.stringify({ value: ciphertext[2] }))).status, 200);
  assert.equal(web.seen.length, before, 'web was not asked');
});

test('a page of another site mints nothing, and spends through the front door with CORS', async () => {
  const sealed = JSON.parse((await post('/encrypt', '{"data":"secret"}')).body).data.ciphertext;
  const { token } = JSON.parse((await post('/client-tokens', JSON.stringify({ action: 'decrypt', data: sealed }))).body).data;
  const origin = 'https://shop.example.com';
  const preflight = await ask(port, 'api', '/v1/client/decrypt', {
    method: 'OPTIONS',
    headers: { host: `localhost:${port}`, origin, 'access-control-request-method': 'POST' },
  });
  assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [204, origin]);
  const spent = await post('/client/decrypt', JSON.stringify({ data: sealed }), { authorization: `Bearer ${token}`, origin });
  assert.deepEqual([spent.status, JSON.parse(spent.body).data], [200, { plaintext: 'secret' }]);
  const { headers } = spent;
  assert.deepEqual(
    [
      headers['access-control-allow-origin'],
      headers['cache-control'],
      headers['referrer-policy'],
      headers['access-control-allow-credentials'],
    ],
    [origin, 'no-store', 'no-referrer', undefined],
  );
  assert.match(headers.vary ?? '', /Origin/);
});
