import assert from 'node:assert/strict';
import { createServer as createHttp } from 'node:http';
import test from 'node:test';
import { until } from '#server/testing/until.ts';
import { createRequestOut, type OutboundRequest } from './request-out.ts';
import { listen, loopback, poolsOf } from './upstream.fixture.ts';

const who = { tenant: 't1', space: 'live' };
const send = (request: Omit<OutboundRequest, 'tenant' | 'space'>) => createRequestOut(poolsOf(), loopback)({ ...who, ...request });

test('a call brings back status, headers and body, with path and query byte for byte', async () => {
  const port = await listen(
    createHttp((req, res) => {
      let body = '';
      req.on('data', (chunk) => {
        body += chunk;
      });
      req.on('end', () => res.writeHead(422, { 'x-seen': `${req.method} ${req.headers.host}` }).end(`${req.url} ${body}`));
    }),
  );
  const answer = await send({
    url: `http://127.0.0.1:${port}/a%2Fb?q=%7B&x=1`,
    method: 'POST',
    body: 'hello',
    headers: { 'content-type': 'text/plain' },
  });
  assert.equal(answer.status, 422);
  assert.equal(answer.headers['x-seen'], `POST 127.0.0.1:${port}`);
  assert.equal(answer.body.toString(), '/a%2Fb?q=%7B&x=1 hello');
});

test('a redirect is an answer and is never followed', async () => {
  let hits = 0;
  const port = await listen(
    createHttp((_, res) => {
      hits += 1;
      res.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    }),
  );
  const answer = await send({ url: `http://127.0.0.1:${port}/` });
  assert.deepEqual([answer.status, hits], [302, 1]);
});

test('bytes are bounded: fail by default, or keep the first part and hang up', async () => {
  let closed = 0;
  const port = await listen(
    createHttp((_, res) => {
      res.on('close', () => {
        closed += 1;
      });
      const more = () => {
        while (!res.destroyed && res.write(Buffer.alloc(16_384, 'x')));
      };
      res.on('drain', more);
      more();
    }),
  );
  const url = `http://127.0.0.1:${port}/`;
  await assert.rejects(send({ url, maxBytes: 100_000 }), { type: 'upstream_response_too_large' });
  const kept = await send({ url, maxBytes: 100_000, overflow: 'truncate' });
  assert.deepEqual([kept.body.length, kept.truncated], [100_000, true]);
  await until(() => closed === 2);
});

test('time is bounded over the whole call, and a signal ends it', async () => {
  const port = await listen(
    createHttp((_, res) => {
      res.write('a');
      const drip = setInterval(() => res.write('a'), 20);
      res.on('close', () => clearInterval(drip));
    }),
  );
  const url = `http://127.0.0.1:${port}/`;
  await assert.rejects(send({ url, timeoutMs: 150 }), { type: 'upstream_timeout' });
  await assert.rejects(send({ url, signal: AbortSignal.timeout(50) }), { type: 'aborted' });
  await assert.rejects(send({ url, signal: AbortSignal.abort() }), { type: 'aborted' });
});

test('URLs the guard would not save are not called either', async () => {
  const bad = [
    'ftp://a.example/',
    'https://u:p@a.example/',
    'https://127.1/',
    'https://a.example/#x',
    'https://a.example/?a=b#x',
    'https://169.254.169.254/',
  ];
  bad.push('https://a.example/?q=\r\nX: 1', 'https://{{var:x}}.example/', 'not a url');
  for (const url of bad) await assert.rejects(send({ url }), { type: 'upstream_not_allowed' }, url);
});

test('an answer that is paced is read no further until it may be, and is whole then', async () => {
  const port = await listen(createHttp((_, res) => void res.end('x'.repeat(4 * 1024 * 1024))));
  let [so_far, last, paused] = [0, 0, 0];
  const answer = await send({
    url: `http://127.0.0.1:${port}/`,
    maxBytes: 5 * 1024 * 1024,
    pace: (resume) => (bytes) => {
      assert.ok(bytes > so_far);
      so_far = bytes;
      if (bytes < last + 1024 * 1024) return true;
      last = bytes;
      paused++;
      setImmediate(() => {
        assert.equal(so_far, last, 'nothing came meanwhile');
        resume();
      });
      return false;
    },
  });
  assert.deepEqual([answer.body.length, paused >= 3], [4 * 1024 * 1024, true]);
});
