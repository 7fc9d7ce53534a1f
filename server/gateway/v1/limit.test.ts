import assert from 'node:assert/strict';
import test from 'node:test';
import { flushUses } from '#server/custody/uses.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { storedKey } from '#server/testing/stored-keys.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, startGateway } from '../gateway.fixture.ts';
import { startWeb } from './web.fixture.ts';

// Where the processes of a deployment share their counters, a key with a limit is served by the gateway too.

await testDatabase({ SVC_GATEWAYS: '2' });
const web = await startWeb();
const { port } = await (await startGateway()).gateway.listen('api', 0, '127.0.0.1');

test('a key limit is spent exactly once a call, whoever answers, and web refuses what is beyond it', async () => {
  const w = await workspace();
  const { id } = await db().environments.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox: false } });
  const { text, row } = await w.key('live', 'Key - Editor', { rate_limit_requests: 10, rate_limit_window_sec: 86_400 });
  const call = (through: 'hot' | 'web') =>
    ask(port, 'api', `/v1/environments/${id}`, {
      headers: { host: 'localhost', authorization: `Bearer ${text}`, ...(through === 'web' ? { 'if-none-match': '"x"' } : {}) },
    });
  const left: (string | undefined)[] = [];
  for (const through of ['hot', 'web', 'hot', 'hot', 'web'] as const) left.push((await call(through)).headers['x-ratelimit-remaining']);
  assert.deepEqual(left, ['9', '8', '7', '6', '5']);
  assert.equal(web.seen.length, 2);
  const rest = await Promise.all(Array.from({ length: 12 }, () => call('hot')));
  assert.deepEqual(
    [200, 429].map((status) => rest.filter((answer) => answer.status === status).length),
    [5, 7],
  );
  assert.equal(web.seen.length, 9);
  assert.ok(rest.every(({ headers, status }) => status === 200 || (headers['retry-after'] && headers['x-ratelimit-remaining'] === '0')));
  const [counter] = await db().$queryRaw<{ n: number }[]>`select n from rate_counters where key = ${`key:${row.id}`}`;
  assert.equal(counter?.n, 11, 'one refusal is counted');
});

test('a use beyond the limit of its key does nothing', async () => {
  const w = await workspace();
  const aes = await storedKey(w.live, { key_type: 'aes256-gcm' });
  const { text } = await w.key('live', 'Key - Editor', { rate_limit_requests: 2, rate_limit_window_sec: 86_400 });
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) {
    const { status } = await ask(port, 'api', `/v1/crypto/keys/${aes.id}/encrypt`, {
      method: 'POST',
      body: '{"plaintext":"a"}',
      headers: { host: 'localhost', 'content-type': 'application/json', authorization: `Bearer ${text}` },
    });
    statuses.push(status);
  }
  assert.deepEqual(statuses, [200, 200, 429, 429, 429]);
  await flushUses();
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'execute' } }), 2);
});
