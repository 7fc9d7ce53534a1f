import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { flushUses } from '#server/custody/uses.ts';
import { detokenize, detokenizeMany } from '#server/custody/vaults/detokenize.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { operationById } from '#server/testing/factories.ts';
import { keyActor, workspace } from '#server/testing/workspace.ts';
import { alertOfGuessing } from './guessing-alert.ts';
import { makeVault } from './vaults.fixture.ts';

await testDatabase();

test('a credential that guesses is stopped for what exists as well, for five minutes, and nobody else is', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { token_format: 'ssn' });
  const [token] = await tokenize(w.live, vault, [{ value: '123456789' }]);
  const guesser = { ...w.live, actor: keyActor('Key - Infrastructure') };
  const guesses = Array.from({ length: 100 }, (_, i) => `999-89-${String(i).padStart(4, '0')}`);
  const answers = await detokenizeMany(guesser, vault, guesses);
  assert.ok(answers.every((answer) => answer instanceof Refusal && answer.type === 'not_found'));
  assert.equal((await detokenize(guesser, vault, token?.token ?? '')).value, '123456789', 'a hundred are allowed');
  await assert.rejects(detokenize(guesser, vault, '999-89-0100'), { type: 'rate_limit_exceeded' });
  await assert.rejects(
    detokenize(guesser, vault, token?.token ?? ''),
    (error: Refusal) => error.type === 'rate_limit_exceeded' && (error.retryAfter ?? 0) > 290,
  );
  assert.equal((await detokenize(w.live, vault, token?.token ?? '')).value, '123456789');
  const later = { ...guesser, now: new Date(guesser.now.getTime() + 301_000) };
  assert.equal((await detokenize(later, vault, token?.token ?? '')).value, '123456789');
});

test('guesses made all at once are told no more than guesses made in turn', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { token_format: 'ssn' });
  const [token] = await tokenize(w.live, vault, [{ value: '123456789' }]);
  const guesser = { ...w.live, actor: keyActor('Key - Infrastructure') };
  const guesses = (n: number) => Array.from({ length: 50 }, (_, i) => `999-89-${String(n * 50 + i).padStart(4, '0')}`);
  const tries = Array.from({ length: 8 }, (_, n) => detokenizeMany(guesser, vault, [...guesses(n), token?.token ?? '']));
  const told = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled');
  assert.ok(told.length <= 2, `${told.length} calls of 50 guesses were answered`);
});

test('a text that no database can hold is no token, and disturbs nobody who asks at the same time', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live);
  const [token] = await tokenize(w.live, vault, [{ value: 'v' }]);
  const [known, ...strange] = await Promise.allSettled(
    [token?.token ?? '', '\0', 'a\ud800'].map((text) => detokenize(w.live, vault, text)),
  );
  assert.equal(known?.status === 'fulfilled' && known.value.value, 'v');
  for (const one of strange) assert.equal(one.status === 'rejected' && one.reason.type, 'not_found');
});

test('the Owners are mailed about it', async () => {
  const w = await workspace();
  assert.equal(await alertOfGuessing(db(), { tenant_id: crypto.randomUUID(), sandbox: false, actor: 'x', ip: null }, new Date()), 0);
  assert.ok((await alertOfGuessing(db(), { tenant_id: w.tenant.id, sandbox: true, actor: 'build key', ip: '192.0.2.1' }, new Date())) >= 0);
});

test('unknown tokens, those of other vaults and spaces, and deleted ones answer the same bytes', async () => {
  const [w, stranger] = [await workspace(), await workspace()];
  const [vault, other] = [await makeVault(w.live, { name: 'cards' }), await makeVault(w.live)];
  const foreign = await makeVault(stranger.live, { name: 'cards' });
  const inTest = await makeVault(w.test, { name: 'cards' });
  const of = async (ctx: typeof w.live, where: typeof vault) => (await tokenize(ctx, where, [{ value: 'v' }]))[0]?.token ?? '';
  const deleted = await of(w.live, vault);
  await perform(operationById('vaults.delete_token'), w.live, { vault: vault.id, token: deleted });
  const { text: key } = await w.key();
  const bodies = new Set<string>();
  for (const token of [
    await of(w.live, other),
    await of(stranger.live, foreign),
    await of(w.test, inTest),
    deleted,
    'tok_01JD8Z3Q6M4N7P9RSTVWXY0123',
    crypto.randomUUID(),
  ]) {
    const answer = await call('GET', `/vaults/cards/tokens/${token}`, { key });
    assert.equal(answer.status, 404);
    bodies.add(answer.text.replace(/"request_id":"[^"]+"/, ''));
  }
  assert.equal(bodies.size, 1);
});

test('a person never detokenizes or lists by a token of their own, whatever its scopes say', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { name: 'cards' });
  const [token] = await tokenize(w.live, vault, [{ value: 'v' }]);
  for (const op of ['vaults.detokenize', 'vaults.list_tokens']) {
    const ctx = { ...w.member('owner') };
    await assert.rejects(perform(operationById(op), ctx, { vault: vault.id, token: token?.token }), { type: 'role_denied' });
  }
});

test('a value is nowhere but in the answers that give it back: not in tables, audit entries, answers kept for replay or the output', async () => {
  const w = await workspace();
  const CANARY = '4000056655665556';
  await makeVault(w.live, { name: 'cards', token_format: 'pan', dedupe: true });
  const { text: key } = await w.key();
  const headers = { 'X-Idempotency-Key': crypto.randomUUID() };
  const output: string[] = [];
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = ((chunk: string | Uint8Array, ...rest: []) => {
    output.push(String(chunk));
    return write(chunk, ...rest);
  }) as typeof process.stdout.write;
  try {
    const made = await call('POST', '/vaults/cards/tokens', { key, headers, body: { value: CANARY, metadata: { customer: 'c' } } });
    assert.equal(made.status, 201, made.text);
    const again = await call('POST', '/vaults/cards/tokens', { key, headers, body: { value: CANARY, metadata: { customer: 'c' } } });
    assert.equal(again.text, made.text, 'replayed');
    const token = made.body.data.token as string;
    assert.ok(!made.text.includes(CANARY));
    const opened = await call('GET', `/vaults/cards/tokens/${token}`, { key, headers: { 'X-Reveal-Reason': 'refund%20812' } });
    assert.equal(opened.body.data.value, CANARY);
    assert.equal(opened.headers.get('cache-control'), 'no-store');
    const many = await call('POST', '/vaults/cards/tokens/detokenize', {
      key,
      headers: { 'X-Idempotency-Key': crypto.randomUUID() },
      body: { tokens: [token] },
    });
    assert.equal(many.body.data.results[0].token.value, CANARY);
    for (const body of [{ value: `${CANARY}1` }, { value: CANARY, metadata: { a: CANARY } }, { value: CANARY, ttl_seconds: 0 }]) {
      const bad = await call('POST', '/vaults/cards/tokens', { key, body });
      assert.equal(bad.status, 400);
      assert.ok(!bad.text.includes(CANARY), bad.text);
    }
    await call('POST', '/vaults/cards/tokens/search', { key, body: { value: CANARY } });
    await call('POST', '/vaults/cards/tokens/import', { key, body: { content: `value\n${CANARY}\n` } });
  } finally {
    process.stdout.write = write;
  }
  await flushUses();
  const { rows: tables } = await sql().query<{ name: string }>(
    "select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id'",
  );
  const spellings = [CANARY, Buffer.from(CANARY).toString('base64').replace(/=+$/, ''), Buffer.from(CANARY).toString('hex')];
  for (const { name } of tables) {
    const { rows } = await sql().query<{ row: string }>(`select row_to_json(t)::text as row from ${name} t where tenant_id = $1`, [
      w.tenant.id,
    ]);
    for (const { row } of rows) for (const spelling of spellings) assert.ok(!row.includes(spelling), `${name} holds the value`);
  }
  for (const spelling of spellings) assert.ok(!output.join('').includes(spelling), 'the output holds the value');
  const { rows: audits } = await sql().query<{ details: { reason?: string } }>(
    "select details from audit_logs where tenant_id = $1 and action = 'vault.detokenize' order by seq",
    [w.tenant.id],
  );
  assert.deepEqual(
    audits.map(({ details }) => details.reason),
    ['refund 812', undefined],
  );
});
