import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createTls } from 'node:https';
import { createServer as createTcp } from 'node:net';
import test from 'node:test';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { workspace } from '#server/testing/workspace.ts';
import { selfSigned } from './certificate.fixture.ts';

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.1/32', LOG_LEVEL: 'silent' });
const w = await workspace();
const probe = (target_base_url: string, ctx = w.live) => made({ ...ctx, now: new Date() }, 'routes.probe', { target_base_url });

test('an upstream that answers is told with its status, whatever that is, and gets no credential and one HEAD', async () => {
  const seen: string[] = [];
  const port = await listen(
    createServer((req, res) => {
      seen.push(`${req.method} ${req.url} ${req.headers.authorization ?? 'none'} ${req.headers.cookie ?? 'none'}`);
      res.writeHead(404).end();
    }),
  );
  const probed = await probe(`http://127.0.0.1:${port}/v1`);
  assert.deepEqual({ ...probed, latency_ms: 0 }, { outcome: 'answered', problem: null, certificate: null, status: 404, latency_ms: 0 });
  assert.deepEqual(seen, ['HEAD /v1 none none']);
  assert.equal((await probe('http://echo.sallyport.internal')).outcome, 'answered');
});

test('what a call would be refused for is told as such, and nothing inside is reached', async () => {
  let reached = 0;
  const inside = createTcp((socket) => {
    reached++;
    socket.destroy();
  });
  inside.listen(0, '127.0.0.2');
  await new Promise((resolve) => inside.once('listening', resolve));
  const { port } = inside.address() as { port: number };
  for (const url of [
    'http://169.254.169.254/latest/meta-data',
    `http://127.0.0.2:${port}`,
    `http://2130706434:${port}`,
    'https://10.0.0.1',
    'https://[::ffff:10.0.0.1]',
    'https://metadata.google.internal',
    'https://user:secret@api.example.com',
    'ftp://api.example.com',
    'https://api.example.com:22',
    'not a url',
  ]) {
    const { outcome, problem } = await probe(url, (await workspace()).live);
    assert.deepEqual([outcome, typeof problem], ['refused', 'string'], url);
    assert.doesNotMatch(problem, /secret|10\.0\.0\.1|169\.254/);
  }
  assert.equal(reached, 0);
  inside.close();
});

test('a host that is not there, shows a certificate nobody signed, or says nothing is told apart', async () => {
  assert.equal((await probe('http://127.0.0.1:9')).outcome, 'unreachable');
  const untrusted = await listen(createTls(selfSigned, (_, res) => res.end()));
  assert.equal((await probe(`https://127.0.0.1:${untrusted}`)).outcome, 'untrusted');
  const mute = await listen(createTcp(() => undefined));
  assert.equal((await probe(`http://127.0.0.1:${mute}`)).outcome, 'silent');
  const { outcome } = await probe('https://{{var:region}}.example.com');
  assert.equal(outcome, 'unknown');
});

test('a look follows no redirect', async () => {
  const port = await listen(createServer((_, res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end()));
  assert.equal((await probe(`http://127.0.0.1:${port}`)).status, 302);
});

test('nobody looks at more than thirty upstreams a minute', async (t) => {
  stillClock(t);
  const mine = await workspace();
  for (let i = 0; i < 30; i++) await probe('not a url', mine.live);
  await assert.rejects(probe('not a url', mine.live), { type: 'rate_limited' });
});
