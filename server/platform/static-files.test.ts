import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { compressFiles, staticFiles } from './static-files.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-static-'));
const script = 'export const answer = 42; // and the same again and again\n'.repeat(50);
fs.mkdirSync(path.join(folder, 'chunks/[id]'), { recursive: true });
fs.writeFileSync(path.join(folder, 'chunks/a.js'), script);
fs.writeFileSync(path.join(folder, 'chunks/[id]/b.css'), 'a{}');
fs.writeFileSync(path.join(folder, 'secret.env'), 'KEY=1');
await compressFiles(folder);
const served = staticFiles(folder, '/_next/static/');
const server = http.createServer((req, res) => {
  if (!served(req, res)) res.writeHead(418).end('not here');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
test.after(() => {
  server.close();
  fs.rmSync(folder, { recursive: true });
});

/** Sent as it is written: `fetch` would tidy the path and open the body. */
const ask = (target: string, accept?: string, method = 'GET') =>
  new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const headers = accept === undefined ? {} : { 'accept-encoding': accept };
    http
      .request({ port, host: '127.0.0.1', path: target, method, headers }, async (res) => {
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(await res.toArray()) });
      })
      .on('error', reject)
      .end();
  });

test('a script comes in the coding the browser takes, and is the same script in each', async () => {
  const br = await ask('/_next/static/chunks/a.js', 'gzip, deflate, br, zstd');
  assert.deepEqual([br.status, br.headers['content-encoding'], br.headers.vary], [200, 'br', 'Accept-Encoding']);
  assert.equal(brotliDecompressSync(br.body).toString(), script);
  const gzip = await ask('/_next/static/chunks/a.js?v=1', 'gzip');
  assert.equal(gzip.headers['content-encoding'], 'gzip');
  assert.equal(gunzipSync(gzip.body).toString(), script);
  for (const accept of [undefined, 'identity', 'br;q=0, gzip;q=0']) {
    const plain = await ask('/_next/static/chunks/a.js', accept);
    assert.deepEqual([plain.headers['content-encoding'], plain.body.toString()], [undefined, script]);
  }
});

test('what is served may be kept for ever, is what it says it is, and a HEAD has no body', async () => {
  const { headers, body } = await ask('/_next/static/chunks/a.js', 'br', 'HEAD');
  assert.deepEqual(
    [headers['cache-control'], headers['content-type'], headers['x-content-type-options']],
    ['public, max-age=31536000, immutable', 'application/javascript; charset=UTF-8', 'nosniff'],
  );
  assert.equal(body.length, 0);
  assert.ok(Number(headers['content-length']) > 0);
  // Too short to compress; brackets in a name come percent-encoded.
  const style = await ask('/_next/static/chunks/%5Bid%5D/b.css', 'br');
  assert.deepEqual([style.headers['content-encoding'], style.headers['content-type']], [undefined, 'text/css; charset=UTF-8']);
  assert.equal((await ask('/_next/static/chunks/[id]/b.css')).body.toString(), 'a{}');
});

test('nothing else is served, however it is asked for', async () => {
  for (const target of ['secret.env', 'chunks/a.js.br', '', '%', '%zz', '__proto__', 'chunks']) {
    assert.equal((await ask(`/_next/static/${target}`, 'br')).status, 418, target);
  }
  assert.equal((await ask('/_next/static/chunks/a.js', 'br', 'POST')).status, 418);
  for (const target of ['../static/chunks/a.js', 'chunks/../chunks/a.js', '%2e%2e/static/chunks/a.js', 'chunks/of-another-release.js']) {
    const { status, headers, body } = await ask(`/_next/static/${target}`, 'br');
    assert.deepEqual([status, headers['cache-control'], body.length], [404, 'no-store', 0], target);
  }
});

test('a range that ends before it begins gets the whole file, and a file that went away meanwhile is still served', async () => {
  fs.rmSync(path.join(folder, 'chunks/a.js'));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/_next/static/chunks/a.js`, { headers: { range: 'bytes=5-2' } });
  assert.deepEqual([answer.status, await answer.text()], [200, script]);
});
