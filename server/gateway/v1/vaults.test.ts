import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { flushUses } from '#server/custody/uses.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, startGateway } from '../gateway.fixture.ts';
import { startWeb } from './web.fixture.ts';

// Uses of vaults through a gateway: by itself when it is the plain success, by web otherwise, from one row.

await testDatabase({ SVC_GATEWAYS: '1' });
const web = await startWeb();
const gateway = await startGateway();
const port = (await gateway.gateway.listen('api', 0, '127.0.0.1')).port;
const w = await workspace();
const { text: key } = await w.key();

/** Calls a vault; `asked` is how often web was. */
async function vault(method: 'GET' | 'POST', path: string, body?: unknown, credential = key) {
  const before = web.seen.length;
  const answer = await ask(port, 'api', `/v1/vaults/${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: {
      host: `localhost:${port}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      authorization: `Bearer ${credential}`,
    },
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever a stranger would see
  return { status: answer.status, headers: answer.headers, asked: web.seen.length - before, body: JSON.parse(answer.body) as any };
}

test('tokenize and detokenize are answered without web', async () => {
  await made(w.live, 'vaults.create', { name: 'cards v2', token_format: 'pan', dedupe: true });
  const path = 'cards%20v2/tokens';
  const one = await vault('POST', path, { value: '4242 4242 4242 4242', metadata: { customer: 'c' } });
  assert.deepEqual([one.status, one.asked], [201, 0], JSON.stringify(one.body));
  const again = await vault('POST', path, { value: '4242424242424242' });
  assert.deepEqual([again.status, again.asked, again.body.data.reused, again.body.data.token], [200, 0, true, one.body.data.token]);
  const many = await vault('POST', `${path}/bulk`, {
    values: Array.from({ length: 1_000 }, (_, i) => ({ value: '378282246310005', metadata: { i } })),
  });
  assert.deepEqual([many.status, many.asked, many.body.data.count], [201, 0, 1_000]);
  for (const ref of [one.body.data.token, one.body.data.id]) {
    const opened = await vault('GET', `${path}/${ref}`);
    assert.deepEqual([opened.status, opened.asked, opened.body.data.value], [200, 0, '4242424242424242']);
    assert.equal(opened.headers['cache-control'], 'no-store');
  }
  const opened = await vault('POST', `${path}/detokenize`, { tokens: [one.body.data.token, 'nothing'] });
  assert.deepEqual([opened.status, opened.asked], [200, 0]);
  assert.deepEqual(
    opened.body.data.results.map(
      (result: { token: { value: string } | null; error: { type: string } | null }) => result.token?.value ?? result.error?.type,
    ),
    ['4242424242424242', 'not_found'],
  );
  await flushUses();
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'vault.detokenize' } }), 3);
});

test('a credential with a rate limit stores nothing that it is not told of', async (t) => {
  stillClock(t);
  await made(w.live, 'vaults.create', { name: 'limited' });
  const { text } = await w.key('live', 'Key - Infrastructure', { rate_limit_requests: 2, rate_limit_window_sec: 60 });
  const answers = [];
  for (let i = 0; i < 4; i++) answers.push((await vault('POST', 'limited/tokens', { value: `v${i}` }, text)).status);
  assert.deepEqual(answers, [201, 201, 429, 429]);
  const { stats } = await made(w.live, 'vaults.get', { vault: 'limited' });
  assert.equal(stats.token_count, 2);
});

test('guesses are counted once, though web answers them after the gateway', async (t) => {
  stillClock(t);
  await made(w.live, 'vaults.create', { name: 'guessed' });
  const { text } = await w.key();
  const { token } = (await vault('POST', 'guessed/tokens', { value: 'v' }, text)).body.data;
  for (let i = 0; i < 100; i++) assert.equal((await vault('GET', `guessed/tokens/nothing-${i}`, undefined, text)).status, 404);
  assert.equal((await vault('GET', `guessed/tokens/${token}`, undefined, text)).status, 200);
  assert.equal((await vault('GET', 'guessed/tokens/nothing', undefined, text)).status, 429, 'the guess that is one too many');
  const stopped = await vault('GET', `guessed/tokens/${token}`, undefined, text);
  assert.deepEqual([stopped.status, stopped.body.error.type], [429, 'rate_limit_exceeded']);
  assert.equal((await vault('GET', `guessed/tokens/${token}`)).status, 200, 'another credential');
});

test('a policy narrowed to one vault holds in the gateway, by its name and by its ID', async () => {
  const [open, closed] = [await made(w.live, 'vaults.create', { name: 'open' }), await made(w.live, 'vaults.create', { name: 'closed' })];
  await db().tenant_policies.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      name: 'not this vault',
      actions: ['vault:detokenize', 'vault:tokenize'],
      subjects: { all: true },
      resources: ['closed'],
    },
  });
  await until(async () => (await vault('POST', 'closed/tokens', { value: 'v' })).status === 403);
  for (const ref of [closed.name, closed.id]) assert.equal((await vault('POST', `${ref}/tokens`, { value: 'v' })).status, 403);
  assert.deepEqual((({ status, asked }) => [status, asked])(await vault('POST', `${open.id}/tokens`, { value: 'v' })), [201, 0]);
});

test('a disabled or deleted vault is refused by the next call', async () => {
  await made(w.live, 'vaults.create', { name: 'closing' });
  const { token } = (await vault('POST', 'closing/tokens', { value: 'v' })).body.data;
  await perform(operationById('vaults.update'), w.live, { vault: 'closing', enabled: false });
  assert.equal((await vault('GET', `closing/tokens/${token}`)).body.error.type, 'vault_disabled');
  await perform(operationById('vaults.delete'), w.live, { vault: 'closing' });
  assert.equal((await vault('GET', `closing/tokens/${token}`)).body.error.type, 'not_found');
});
