import assert from 'node:assert/strict';
import { connect, type OutgoingHttpHeaders } from 'node:http2';
import test, { after } from 'node:test';
import { createWrapToken } from '#server/domain/wrap/tokens.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served } from '../gateway.fixture.ts';
import { makeWrapped, startApi, startTlsUpstream } from './ephemeral.fixture.ts';

// Spoken to in HTTP/2, as a trusted proxy does: a host is then named by :authority, and Host may stand beside it (RFC 9113 §8.3.1).

await testDatabase({ TRUSTED_PROXIES: '127.0.0.1' });
const running = await startApi();
const HOST = 'api.upstream.example';
const OTHER = 'other.upstream.example';
const SECRET = 'escrowed-key-of-the-provider';
const upstream = await startTlsUpstream([HOST, OTHER]);
const w = await workspace();
await makeWrapped(w, 'PROVIDER', SECRET, [HOST, OTHER]);
const { text: key } = await w.key();
await served(running, w);
const { token } = await createWrapToken({ ...(await w.key()).as, now: new Date() }, { secret: 'PROVIDER', host: HOST });
const session = connect(`http://127.0.0.1:${running.api}`);
after(() => session.destroy());
const OURS = `localhost:${running.api}`;

/** Status and code of the answer, and the hosts that upstreams were called by. */
async function call(headers: OutgoingHttpHeaders) {
  const before = upstream.seen.length;
  const stream = session.request({ 'x-forwarded-proto': 'https', ...headers });
  const status = await new Promise<string>((resolve) => {
    let said = 'reset';
    stream.on('response', (head) => {
      said = `${head[':status']} ${head['x-svc-error'] ?? ''}`.trim();
    });
    stream.on('error', () => undefined);
    stream.on('close', () => resolve(said));
    stream.resume();
    stream.end();
  });
  return { status, hosts: upstream.seen.slice(before).map(({ headers: { host } }) => host) };
}

test('a token of one host calls no other, whatever :authority and Host say', async () => {
  const path = `/wg/${token}/${HOST}/x`;
  assert.deepEqual(await call({ ':path': path, ':authority': OURS }), { status: '200', hosts: [HOST] });
  for (const names of [
    { ':authority': OTHER },
    { ':authority': `${OTHER}:443` },
    { ':authority': OURS, host: OTHER },
    { ':authority': OTHER, host: OURS },
    { ':authority': `${OURS}@${OTHER}` },
    { ':authority': OURS, 'x-forwarded-host': OTHER },
    { ':authority': OURS, 'x-svc-proxy-url': `https://${OTHER}/` },
  ]) {
    const { status, hosts } = await call({ ':path': path, ...names });
    assert.ok(
      hosts.every((host) => host === HOST),
      `${JSON.stringify(names)}: ${status} ${hosts}`,
    );
  }
  for (const target of [
    `https://${OTHER}/x`,
    `/wg/${token}/${OTHER}/x`,
    `/wg/${token}/${HOST}%2F..%2F${OTHER}/x`,
    `//${OTHER}/wg/${token}/${HOST}/x`,
  ])
    for (const authority of [OURS, OTHER]) {
      const { status, hosts } = await call({ ':path': target, ':authority': authority });
      assert.deepEqual(hosts, [], `${target} at ${authority}: ${status}`);
    }
});

test('a wrap credential goes where X-Svc-Proxy-URL says, whatever :authority says', async () => {
  const sent = { ':path': '/v1/proxy', authorization: `Bearer ${key}`, 'x-svc-upstream-auth-secret': 'PROVIDER' };
  const to = { 'x-svc-proxy-url': `https://${HOST}/x` };
  assert.deepEqual(await call({ ...sent, ...to, ':authority': OURS }), { status: '200', hosts: [HOST] });
  for (const authority of [OTHER, 'evil.example', `${OTHER}:443`]) {
    const { status, hosts } = await call({ ...sent, ...to, ':authority': authority });
    assert.ok(
      hosts.every((host) => host === HOST),
      `${authority}: ${status} ${hosts}`,
    );
  }
  assert.deepEqual(await call({ ...sent, 'x-svc-proxy-url': 'https://evil.example/x', ':authority': OURS }), {
    status: '403 secret_host_not_allowed',
    hosts: [],
  });
});
