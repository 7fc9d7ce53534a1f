import assert from 'node:assert/strict';
import test from 'node:test';
import { flushUses } from '#server/custody/uses.ts';
import { detokenize, detokenizeMany } from '#server/custody/vaults/detokenize.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import { findVault } from '#server/custody/vaults/vaults.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeVault } from './vaults.fixture.ts';

await ownDatabase();

const refused = (type: string) => (error: unknown) => error instanceof Refusal && error.type === type;
const one = async (ctx: Ctx, vault: Awaited<ReturnType<typeof makeVault>>, value: string, more: object = {}) => {
  const [token] = await tokenize(ctx, vault, [{ value, ...more }]);
  assert.ok(token);
  return token;
};

const EXAMPLES = {
  generic: ['a text\n with ünicode 🙂', undefined],
  uuid: ['anything', undefined],
  pan: ['4242 4242 4242 4242', '4242424242424242'],
  ssn: ['123-45-6789', '123456789'],
  email: ['Jane.Doe@Example.COM', undefined],
  phone: ['+1 (415) 555-9311', '+14155559311'],
  iban: ['gb82 WEST 1234 5698 7654 32', 'GB82WEST12345698765432'],
  numeric: ['20240917', undefined],
  alphanumeric: ['AB-12 xy', undefined],
} as const;

test('detokenize gives back what tokenize took, in every format', async () => {
  const w = await workspace();
  for (const [token_format, [sent, kept]] of Object.entries(EXAMPLES)) {
    const vault = await makeVault(w.live, { token_format });
    const token = await one(w.live, vault, sent, { metadata: { order: 1 } });
    assert.notEqual(token.token, kept ?? sent);
    const opened = await detokenize(w.live, vault, token.token);
    assert.equal(opened.value, kept ?? sent, token_format);
    assert.equal(Buffer.from(opened.value_b64, 'base64').toString(), kept ?? sent);
    assert.deepEqual(opened.metadata, { order: 1 });
    assert.equal((await detokenize(w.live, vault, token.id as string)).token, token.token, 'by its ID');
    assert.equal((await detokenize(w.live, null, token.token)).vault_id, vault.id, 'without its vault');
    assert.notEqual((await one(w.live, vault, sent)).token, token.token, 'two calls give two tokens');
  }
});

test('metadata of a token keeps its numbers to the last digit, and must not hold the value as a number', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  const vault = await makeVault(w.live, { token_format: 'numeric' });
  const metadata = '{"id":7615917337495251231,"rate":1.10}';
  const path = `/vaults/${vault.name}`;
  const made = await call('POST', `${path}/tokens`, { key, raw: `{"value":"20240917","metadata":${metadata}}` });
  const { token } = made.body.data;
  const shown = async () => JSON.stringify((await detokenize(w.live, vault, token)).metadata);
  assert.equal(await shown(), metadata);
  await call('PATCH', `${path}/tokens/${token}`, { key, raw: '{"metadata":{"id":9007199254740993.50}}' });
  assert.equal(await shown(), '{"id":9007199254740993.50}');
  const refused = await call('POST', `${path}/tokens`, {
    key,
    raw: '{"value":"7615917337495251231","metadata":{"a":7615917337495251231}}',
  });
  assert.match(refused.body.error.message, /^metadata: must not contain the value/);
});

test('numbers of metadata that a column would write out in very many digits are refused, in every call that takes them', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  const vault = await makeVault(w.live, { token_format: 'numeric' });
  const path = `/vaults/${vault.name}/tokens`;
  const { token } = await one(w.live, vault, '20240917');
  for (const number of ['1e-20000', '0e99999999999', '-0e401', '1e401']) {
    const metadata = `{"a":[{"x":${number}}]}`;
    for (const [method, at, raw] of [
      ['POST', path, `{"value":"4240000000000000","metadata":${metadata}}`],
      ['POST', `${path}/bulk`, `{"values":[{"value":"20240917","metadata":${metadata}}]}`],
      ['PATCH', `${path}/${token}`, `{"metadata":${metadata}}`],
      ['POST', `${path}/search`, `{"metadata":${metadata}}`],
      [
        'POST',
        `${path}/import`,
        JSON.stringify({ format: 'jsonl', columns: { value: 'v', metadata: { x: 'x' } }, content: `{"v":"20240917","x":${number}}` }),
      ],
    ] as const) {
      const answer = await call(method, at, { key, raw });
      assert.equal(answer.status, 400, `${method} ${at} ${number}: ${answer.text}`);
      assert.match(answer.body.error.message, /exponent|beyond ±/, at);
    }
  }
});

test('metadata must not hold the value in any spelling of a number', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  const vault = await makeVault(w.live, { token_format: 'numeric' });
  for (const number of ['4240000000000000', '4.24e15', '4240000000000000.0', '42400000000000000e-1', '0.424E+16']) {
    const raw = `{"value":"4240000000000000","metadata":{"a":[{"x":${number}}]}}`;
    const answer = await call('POST', `/vaults/${vault.name}/tokens`, { key, raw });
    assert.match(answer.body.error?.message ?? answer.text, /^metadata: must not contain the value/, number);
  }
});

test('the same value has one token with dedupe, also when fifty ask at once', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { token_format: 'pan', dedupe: true });
  const tokens = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      i % 10 === 0
        ? tokenize(w.live, vault, [{ value: '4242424242424242' }, { value: '4111111111111111' }, { value: '4242 4242 4242 4242' }])
        : tokenize(w.live, vault, [{ value: i % 2 ? '4242-4242-4242-4242' : '4242424242424242' }]),
    ),
  );
  assert.equal(new Set(tokens.map(([first]) => first?.token)).size, 1);
  assert.equal(new Set(tokens.map(([first]) => first?.fingerprint)).size, 1);
  assert.equal(tokens.flat().filter(({ reused, token }) => !reused && token === tokens[0]?.[0]?.token).length, 1, 'one of them made it');
  const other = await makeVault(w.live, { token_format: 'pan', dedupe: true });
  assert.notEqual(
    (await one(w.live, other, '4242424242424242')).fingerprint,
    tokens[0]?.[0]?.fingerprint,
    'another vault has another index',
  );
});

test('a token of another vault, of the other space and of another workspace is one answer', async () => {
  const [w, stranger] = [await workspace(), await workspace()];
  const vault = await makeVault(w.live);
  const { token, id } = await one(w.live, vault, 'secret');
  const answers: string[] = [];
  for (const [ctx, ref] of [
    [w.live, token],
    [w.live, id as string],
    [w.live, 'tok_01JD8Z3Q6M4N7P9RSTVWXY0123'],
    [w.test, token],
    [stranger.live, token],
  ] as const) {
    const other = await makeVault(ctx);
    await assert.rejects(detokenize(ctx, other, ref), (error: Refusal) => {
      answers.push(`${error.status} ${error.type} ${error.message}`);
      return error.type === 'not_found';
    });
  }
  assert.equal(new Set(answers).size, 1);
  await assert.rejects(detokenize(w.test, null, token), refused('not_found'));
  assert.equal((await detokenize(w.live, vault, token)).value, 'secret');
});

test('the audit entry is there before anything is decrypted, and without it nothing is', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live);
  const { token, id } = await one(w.live, vault, 'canary-4f1b');
  await detokenize(w.live, vault, token, { reason: 'refund', details: { via: 'api' } });
  await flushUses();
  const { rows } = await sql().query<{ action: string; details: Record<string, unknown> }>(
    "select action, details from audit_logs where tenant_id = $1 and resource_type = 'vault_token' order by created_at, action",
    [w.tenant.id],
  );
  assert.deepEqual(rows.map(({ action }) => action).sort(), ['create', 'vault.detokenize']);
  const entry = rows.find(({ action }) => action === 'vault.detokenize')?.details;
  assert.deepEqual(
    { vault: entry?.vault, token_id: entry?.token_id, version: entry?.crypto_key_version, reason: entry?.reason, via: entry?.via },
    { vault: vault.name, token_id: id, version: 1, reason: 'refund', via: 'api' },
  );
  assert.ok(!JSON.stringify(rows).includes('canary-4f1b') && !JSON.stringify(rows).includes(token));
  await sql().query(`create or replace function refuse_audit_${w.tenant.id.replaceAll('-', '')}() returns trigger language plpgsql as $$ begin
    if new.tenant_id = '${w.tenant.id}' then raise exception 'no audit'; end if; return new; end $$`);
  await sql().query(
    `create trigger refuse_${w.tenant.id.slice(0, 8)} before insert on audit_logs for each row execute function refuse_audit_${w.tenant.id.replaceAll('-', '')}()`,
  );
  try {
    await assert.rejects(detokenize(w.live, vault, token), refused('audit_unavailable'));
  } finally {
    await sql().query(`drop trigger refuse_${w.tenant.id.slice(0, 8)} on audit_logs`);
  }
});

test('a disabled vault takes and gives nothing, an expired token is gone, and several are answered one by one', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live);
  const live = await one(w.live, vault, 'a');
  const ended = await one(w.live, vault, 'b', { ttl_seconds: 1 });
  const later = { ...w.live, now: new Date(w.live.now.getTime() + 5_000) };
  await assert.rejects(detokenize(later, vault, ended.token), refused('token_expired'));
  const results = await detokenizeMany(later, vault, [live.token, ended.token, 'nothing']);
  assert.deepEqual(
    results.map((result) => (result instanceof Refusal ? result.type : result.value)),
    ['a', 'token_expired', 'not_found'],
  );
  await sql().query('update vaults set enabled = false where id = $1', [vault.id]);
  const closed = await findVault(w.live, vault.id);
  assert.ok(closed);
  for (const ref of [live.token, 'nothing']) await assert.rejects(detokenize(w.live, closed, ref), refused('vault_disabled'));
  await assert.rejects(tokenize(w.live, closed, [{ value: 'c' }]), refused('vault_disabled'));
  await assert.rejects(tokenize(w.live, vault, [{ value: 'c' }]), refused('vault_disabled'), 'also for who has read the vault before');
});
