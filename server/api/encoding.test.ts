import assert from 'node:assert/strict';
import test from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { encoded } from './encoding.ts';
import { handle } from './handle.ts';

await testDatabase();

const OPEN = { br: brotliDecompressSync, gzip: gunzipSync } as const;

test('an answer is compressed as the caller takes it, and not when it is short', async () => {
  const long = JSON.stringify({ data: Array.from({ length: 200 }, (_, i) => ({ id: i, name: 'ä€😀' })) });
  for (const [accept, expected] of [
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['br;q=0, gzip;q=0.001', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', null],
    ['*', 'gzip'],
    ['*;q=0', null],
    ['gzip;q=0, *', 'br'],
    ['identity', null],
    ['deflate, zstd', null],
    ['gzip;q=nonsense', null],
    ['', null],
    [null, null],
  ] as const) {
    const { body, encoding } = await encoded(long, accept);
    assert.equal(encoding, expected, String(accept));
    if (encoding === null) assert.equal(body, long);
    else {
      assert.ok(body.length < long.length / 2);
      assert.equal(OPEN[encoding](body as Uint8Array).toString(), long);
    }
  }
  assert.deepEqual(await encoded('{"data":[]}', 'gzip, br'), { body: '{"data":[]}', encoding: null });
});

test('a long list arrives compressed and opens to the bytes it has without; HEAD, failures and short answers stay as they are', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  await db().environments.createMany({
    data: Array.from({ length: 50 }, (_, i) => ({
      id: crypto.randomUUID(),
      tenant_id: w.tenant.id,
      sandbox: false,
      name: `e-${i}`,
      display_name: `E ${i}`,
    })),
  });
  const ask = (method: string, path: string, accept?: string) =>
    handle(
      new Request(`http://api.test/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(accept === undefined ? {} : { 'accept-encoding': accept }) },
      }),
      { space: 'live', ip: null, request_id: '01890000-0000-7000-8000-000000000001', user_agent: null },
    );
  const plain = await ask('GET', '/environments');
  const zipped = await ask('GET', '/environments', 'gzip');
  assert.deepEqual(
    [zipped.status, zipped.headers.get('x-sallyport-encoding'), zipped.headers.get('vary')],
    [200, 'gzip', 'Accept-Encoding'],
  );
  assert.equal(gunzipSync(Buffer.from(await zipped.arrayBuffer())).toString(), await plain.text());
  assert.deepEqual([plain.headers.get('x-sallyport-encoding'), plain.headers.get('vary')], [null, 'Accept-Encoding']);
  const head = await ask('HEAD', '/environments', 'gzip');
  assert.deepEqual([head.headers.get('x-sallyport-encoding'), await head.text()], [null, '']);
  for (const path of ['/nothing', '/account'])
    assert.equal((await ask('GET', path, 'gzip')).headers.get('x-sallyport-encoding'), null, path);
});
