import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { detokenize } from '#server/custody/vaults/detokenize.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import { findVault } from '#server/custody/vaults/vaults.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { workspace } from '#server/testing/workspace.ts';
import { csvRows } from './import.ts';
import { purgeVaults } from './purge.ts';
import { rewrapVaults } from './rewrap.ts';
import { makeVault } from './vaults.fixture.ts';

await testDatabase();

const refused = (type: string, message?: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Refusal, String(error));
  assert.equal(error.type, type, error.message);
  if (message) assert.match(error.message, message);
  return true;
};
const call = (ctx: Ctx, id: string, input: Record<string, unknown>) => perform(operationById(id), ctx, input);
const vaultOf = async (ctx: Ctx, input: Record<string, unknown> = {}) =>
  made(ctx, 'vaults.create', { name: `v-${crypto.randomUUID().slice(0, 8)}`, ...input });

test('a vault comes with a key of its own, which nobody uses directly', async () => {
  const w = await workspace();
  const vault = await vaultOf(w.live, { token_format: 'pan' });
  const key = await db().crypto_keys.findUniqueOrThrow({ where: { id: vault.crypto_key_id }, include: { versions: true } });
  assert.deepEqual([key.name, key.managed_by, key.key_type, key.versions.length], [`vault.${vault.id}`, 'vault', 'aes256-gcm', 1]);
  for (const id of ['crypto_keys.encrypt', 'crypto_keys.decrypt', 'crypto_keys.rewrap'])
    await assert.rejects(
      call(w.live, id, { name: key.name, plaintext: 'x', ciphertext: `svc:v1:${'A'.repeat(40)}` }),
      refused('key_managed'),
    );
  await assert.rejects(call(w.live, 'crypto_keys.rotate', { name: key.name }), refused('key_managed'));
});

test('what makes a vault what it is never changes', async () => {
  const w = await workspace();
  const { name } = await vaultOf(w.live);
  for (const field of [{ name: 'other' }, { token_format: 'pan' }, { custody_mode: 'dual' }, { dedupe: true }])
    await assert.rejects(call(w.live, 'vaults.update', { vault: name, ...field }), refused('validation_error', /can't be changed/));
  await assert.rejects(vaultOf(w.live, { name: name.toUpperCase() }), refused('conflict'));
  assert.equal((await vaultOf(w.test, { name })).name, name, 'names of the other space are free');
});

test('switching a vault off and on is audited as what it is', async () => {
  const w = await workspace();
  const { name, id } = await vaultOf(w.live);
  await call(w.live, 'vaults.update', { vault: name, enabled: false, description: 'closed' });
  await call(w.live, 'vaults.update', { vault: id, enabled: true });
  await call(w.live, 'vaults.update', { vault: id, enabled: true });
  const rows = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'vault' }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['create', 'disable', 'update', 'enable'],
  );
});

test('a rotated vault reads what it had; moved values survive the end of their version, others do not', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live);
  const values = Array.from({ length: 7 }, (_, i) => `value ${i}`);
  const tokens = await tokenize(
    w.live,
    vault,
    values.map((value) => ({ value })),
  );
  assert.deepEqual(await made(w.live, 'vaults.rotate', { vault: vault.name, rewrap: true }), { new_version: 2 });
  const [later] = await tokenize(w.live, vault, [{ value: 'later' }]);
  // A worker that dies after the first batch: another goes on where it was.
  const aborted = AbortSignal.abort();
  await rewrapVaults({ signal: aborted, batch: 3 });
  assert.equal(await rewrapVaults({ batch: 3 }), 7);
  const { rewrap, key_version } = await made(w.live, 'vaults.get', { vault: vault.id });
  assert.deepEqual([rewrap.done, rewrap.total, rewrap.to_version, rewrap.finished_at !== null, key_version], [7, 7, 2, true, 2]);
  assert.equal(await rewrapVaults({ batch: 3 }), 0);
  const versions = await db().vault_tokens.groupBy({ by: ['crypto_key_version'], where: { vault_id: vault.id }, _count: true });
  assert.deepEqual(
    versions.map((v) => [v.crypto_key_version, v._count]),
    [[2, 8]],
  );
  await made(w.live, 'vaults.rotate', { vault: vault.name });
  const [newest] = await tokenize(w.live, vault, [{ value: 'newest' }]);
  await db().crypto_keys.update({ where: { id: vault.crypto_key_id }, data: { deletion_allowed: true } });
  await call(w.live, 'crypto_keys.destroy_version', { name: vault.crypto_key_id, n: '2' });
  for (const token of [...tokens, later])
    await assert.rejects(detokenize(w.live, vault, token?.token ?? ''), refused('key_version_destroyed'));
  assert.equal((await detokenize(w.live, vault, newest?.token ?? '')).value, 'newest');
});

test('a deleted vault is shredded in one step: nothing opens, nothing is counted, the name is free', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { dedupe: true });
  const [token] = await tokenize(w.live, vault, [{ value: 'a' }, { value: 'b' }]);
  const count = async () => Number((await db().row_counts.findFirst({ where: { tenant_id: w.tenant.id, kind: 'vault_tokens' } }))?.n ?? 0);
  assert.equal(await count(), 2);
  await call(w.live, 'vaults.delete', { vault: vault.name });
  assert.equal(await count(), 0);
  for (const ref of [vault, null]) await assert.rejects(detokenize(w.live, ref, token?.token ?? ''), refused('not_found'));
  await assert.rejects(tokenize(w.live, vault, [{ value: 'c' }]), refused('not_found'));
  for (const ref of [vault.name, vault.id]) await assert.rejects(call(w.live, 'vaults.get', { vault: ref }), refused('not_found'));
  const { rows } = await sql().query('select value_ct, cek_wrapped, tmk_version from crypto_key_versions where key_id = $1', [
    vault.crypto_key_id,
  ]);
  assert.deepEqual(rows, [{ value_ct: null, cek_wrapped: null, tmk_version: null }]);
  await purgeVaults(new Date());
  const left = await db().vault_tokens.findMany({ where: { vault_id: vault.id } });
  assert.ok(
    left.every(({ wrapped_value, value_hmac, deleted_at }) => wrapped_value === null && value_hmac === null && deleted_at !== null),
  );
  await purgeVaults(new Date(Date.now() + 31 * 86_400_000));
  assert.equal(await db().vaults.count({ where: { id: vault.id } }), 0);
  assert.equal(await count(), 0);
  await vaultOf(w.live, { name: vault.name });
});

test('with dual custody the service stores no value, and opens only what it is given', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { custody_mode: 'dual' });
  const [issued] = await tokenize(w.live, vault, [{ value: 'jane@example.com', metadata: { n: 1 } }]);
  assert.ok(issued);
  assert.match(issued.token, /^kc:1:s:.*:\$$/);
  const [row] = await db().vault_tokens.findMany({ where: { vault_id: vault.id } });
  assert.equal(row?.wrapped_value, null);
  assert.match(row?.token ?? '', /^sha256:[0-9a-f]{32}$/);
  const opened = await detokenize(w.live, vault, issued.token);
  assert.deepEqual([opened.value, opened.metadata, opened.token], ['jane@example.com', { n: 1 }, issued.token]);
  for (const ref of [issued.id as string, row?.token ?? ''])
    await assert.rejects(detokenize(w.live, vault, ref), refused('validation_error', /kc:/));
  for (const item of [{ card_exp_month: 1, card_exp_year: 2030 }, { token: 'mine' }])
    await assert.rejects(tokenize(w.live, vault, [{ value: 'x', ...item }]), refused('validation_error'));
  await call(w.live, 'vaults.delete_token', { vault: vault.id, token: issued.token });
  await assert.rejects(detokenize(w.live, vault, issued.token), refused('not_found'));
  await purgeVaults(new Date(Date.now() + 31 * 86_400_000));
  assert.equal(await db().vault_tokens.count({ where: { vault_id: vault.id } }), 1, 'its fingerprint is refused for good');
  for (const bad of [{ token_format: 'pan' }, { dedupe: true }])
    await assert.rejects(vaultOf(w.live, { custody_mode: 'dual', ...bad }), refused('validation_error'));
  const free = await workspace({ plan: 'free' });
  await assert.rejects(vaultOf(free.live, { custody_mode: 'dual' }), refused('plan_feature'));
  await vaultOf(free.test, { custody_mode: 'dual' });
});

test('ff1 transforms values without storing anything, by a key and a tweak of the vault', async () => {
  const w = await workspace();
  const [vault, other] = [
    await makeVault(w.live, { token_format: 'ff1', alphabet: 'digits' }),
    await makeVault(w.live, { token_format: 'ff1', alphabet: 'digits' }),
  ];
  const value = '0123456789';
  const [token] = await tokenize(w.live, vault, [{ value }]);
  assert.match(token?.token ?? '', /^[0-9]{10}$/);
  assert.notEqual(token?.token, value);
  assert.equal(token?.id, null);
  assert.equal((await tokenize(w.live, vault, [{ value }]))[0]?.token, token?.token);
  assert.notEqual((await tokenize(w.live, other, [{ value }]))[0]?.token, token?.token);
  assert.equal((await detokenize(w.live, vault, token?.token ?? '')).value, value);
  assert.equal(await db().vault_tokens.count({ where: { tenant_id: w.tenant.id } }), 0);
  await assert.rejects(tokenize(w.live, vault, [{ value: '12345' }]), refused('validation_error', /6 to 256/));
  await assert.rejects(tokenize(w.live, vault, [{ value: '12345x' }]), refused('validation_error', /alphabet/));
  await assert.rejects(detokenize(w.live, vault, '12345x'), refused('not_found'));
  await assert.rejects(detokenize(w.live, null, token?.token ?? ''), refused('not_found'));
  await assert.rejects(call(w.live, 'vaults.rotate', { vault: vault.id }), refused('conflict'));
  for (const bad of [
    { token_format: 'ff1' },
    { token_format: 'pan', alphabet: 'digits' },
    { token_format: 'ff1', alphabet: 'digits', dedupe: true },
  ])
    await assert.rejects(vaultOf(w.live, bad), refused('validation_error'));
});

test('the plan limits stored tokens exactly, however many are made at once, and deleted ones make room', async () => {
  const w = await workspace({ plan: 'free' });
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'vault_tokens', value: 5 } });
  const vault = await makeVault(w.live);
  const results = await Promise.allSettled(Array.from({ length: 12 }, (_, i) => tokenize(w.live, vault, [{ value: `v${i}` }])));
  const made5 = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  assert.equal(made5.length, 5);
  for (const one of results) if (one.status === 'rejected') refused('plan_limit')(one.reason);
  await assert.rejects(tokenize(w.live, vault, [{ value: 'x' }, { value: 'y' }]), refused('plan_limit', /allows 5 vault tokens/));
  await call(w.live, 'vaults.delete_token', { vault: vault.id, token: made5[0]?.token });
  const [again] = await tokenize(w.live, vault, [{ value: 'x' }]);
  assert.ok(again);
  const { stats } = await made(w.live, 'vaults.get', { vault: vault.id });
  assert.deepEqual(stats, { token_count: 5, active_count: 5, expiring_in_24h: 0 });
});

test('detokenizing is limited by the month in Live and not in Test', async () => {
  const w = await workspace({ plan: 'free' });
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'vault_detokenize', value: 2 } });
  for (const ctx of [w.live, w.test]) {
    const vault = await makeVault(ctx);
    const [token] = await tokenize(ctx, vault, [{ value: 'v' }]);
    for (let i = 0; i < 2; i++) await detokenize(ctx, vault, token?.token ?? '');
    if (ctx === w.live) await assert.rejects(detokenize(ctx, vault, token?.token ?? ''), refused('plan_limit'));
    else await detokenize(ctx, vault, token?.token ?? '');
  }
});

test('a domain that is used up says so, and uses every token before it does', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { token_format: 'numeric' });
  const tokens = new Set<string>();
  for (let i = 0; i < 9; i++) tokens.add((await tokenize(w.live, vault, [{ value: '7' }]))[0]?.token ?? '');
  assert.deepEqual([...tokens].sort(), ['0', '1', '2', '3', '4', '5', '6', '8', '9']);
  await assert.rejects(tokenize(w.live, vault, [{ value: '7' }]), refused('token_space_exhausted'));
  const found = await findVault(w.live, vault.id);
  await call(w.live, 'vaults.delete_token', { vault: vault.id, token: '3' });
  assert.ok(found);
  await assert.rejects(
    tokenize(w.live, found, [{ value: '7' }]),
    refused('token_space_exhausted'),
    'a deleted text is not issued again soon',
  );
  assert.equal((await tokenize(w.live, found, [{ value: '3' }]))[0]?.token, '7');
});

test('a chosen token is kept, refused when it is taken, and never the value', async () => {
  const w = await workspace();
  const [vault, other] = [await makeVault(w.live), await makeVault(w.live)];
  const [token] = await tokenize(w.live, vault, [{ value: 'a', token: 'legacy-1' }]);
  assert.equal(token?.token, 'legacy-1');
  for (const place of [vault, other])
    await assert.rejects(tokenize(w.live, place, [{ value: 'b', token: 'legacy-1' }]), refused('conflict'));
  await assert.rejects(tokenize(w.live, vault, [{ value: 'b', token: 'b' }]), refused('validation_error', /must not be the value/));
  await assert.rejects(
    call(w.live, 'vaults.tokenize_many', { vault: vault.id, values: [{ value: 'c' }, { value: 'd', token: 'legacy-1' }] }),
    refused('conflict', /^values\[1\]: token/),
  );
  assert.equal(await db().vault_tokens.count({ where: { vault_id: vault.id } }), 1, 'all or nothing');
});

test('a bulk is stored whole or not at all, and the refusal names the value without showing it', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { token_format: 'pan' });
  const values = Array.from({ length: 20 }, () => ({ value: '4242424242424242' }));
  const bad = values.map((item, i) => (i === 17 ? { value: '4242424242424241' } : item));
  await assert.rejects(call(w.live, 'vaults.tokenize_many', { vault: vault.id, values: bad }), (error: Refusal) => {
    assert.match(error.message, /^values\[17\]: value: must be a card number/);
    return !error.message.includes('4242');
  });
  assert.equal(await db().vault_tokens.count({ where: { vault_id: vault.id } }), 0);
  const { tokens, count } = await made(w.live, 'vaults.tokenize_many', { vault: vault.id, values });
  assert.deepEqual([count, new Set(tokens.map((t: { token: string }) => t.token)).size], [20, 20]);
});

test('fields that do not fit the vault and metadata that holds the value are refused', async () => {
  const w = await workspace();
  const [generic, cards] = [await makeVault(w.live), await makeVault(w.live, { token_format: 'pan' })];
  const refusals: [typeof generic, object, RegExp][] = [
    [generic, { value: 'x', card_exp_month: 1, card_exp_year: 2030 }, /only for vaults of format pan/],
    [cards, { value: '4242424242424242', card_exp_month: 1 }, /both card_exp_month and card_exp_year/],
    [cards, { value: '4242 4242 4242 4242', metadata: { a: ['4242424242424242'] } }, /must not contain the value/],
    [cards, { value: '4242 4242 4242 4242', metadata: { '4242 4242 4242 4242': 1 } }, /must not contain the value/],
    [generic, { value: '12', metadata: { n: 12 } }, /must not contain the value/],
    [generic, { value: 'x', metadata: { big: 'y'.repeat(4_100) } }, /4 KiB/],
  ];
  for (const [vault, item, message] of refusals)
    await assert.rejects(tokenize(w.live, vault, [item as { value: string }]), refused('validation_error', message));
  const [card] = await tokenize(w.live, cards, [{ value: '4242424242424242', card_exp_month: 2, card_exp_year: 2028 }]);
  assert.equal(card?.card_expires_on, '2028-02-29');
});

test('tokens are listed without values and metadata, found by what they have, and exported and imported', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { token_format: 'email', dedupe: true });
  for (let i = 0; i < 5; i++)
    await tokenize(w.live, vault, [
      { value: `user${i}@example.com`, metadata: { customer: `c${i % 2}`, tags: ['a'] }, ttl_seconds: i === 4 ? 60 : null },
    ]);
  const list = (await call(w.live, 'vaults.list_tokens', { vault: vault.name, per_page: '2', page: '2' })) as {
    output: Record<string, unknown>[];
    result: { total: number };
  };
  assert.deepEqual([list.output.length, list.result.total], [2, 5]);
  assert.ok(!JSON.stringify(list.output).includes('customer') && !JSON.stringify(list.output).includes('user1@'));
  const search = async (asked: object) =>
    ((await call(w.live, 'vaults.search_tokens', { vault: vault.name, ...asked })) as { result: { total: number } }).result.total;
  assert.equal(await search({ metadata: { customer: 'c1' } }), 2);
  assert.equal(await search({ metadata: { tags: ['a'] } }), 5);
  assert.equal(await search({ value: 'user3@EXAMPLE.com' }), 1);
  assert.equal(await search({ value: 'nobody@example.com' }), 0);
  assert.equal(await search({ expires_to: '2100-01-01T00:00:00Z' }), 1);
  assert.equal(await search({ created_from: new Date(Date.now() + 60_000).toISOString() }), 0);
  await assert.rejects(
    call(w.live, 'vaults.search_tokens', { vault: (await makeVault(w.live)).name, value: 'x' }),
    refused('validation_error', /dedupe/),
  );

  const exported = await made(w.live, 'vaults.export_tokens', { vault: vault.name, limit: 3 });
  assert.equal(exported.content.split('\r\n').length, 5, 'head, three rows and the end');
  const rest = await made(w.live, 'vaults.export_tokens', { vault: vault.name, format: 'jsonl', after: exported.next_after });
  assert.deepEqual([rest.count, rest.next_after], [2, null]);

  const content = 'mail,old,who\r\n"new@example.com",legacy-9,c7\r\nuser0@example.com,,c8\r\n';
  const columns = { value: 'mail', token: 'old', metadata: { customer: 'who' } };
  const tried = await made(w.live, 'vaults.import_tokens', { vault: vault.name, content, columns, dry_run: true });
  assert.deepEqual([tried.rows, tried.imported, tried.tokens], [2, 0, []]);
  const imported = await made(w.live, 'vaults.import_tokens', { vault: vault.name, content, columns });
  assert.deepEqual([imported.imported, imported.reused, imported.tokens[0]], [1, 1, 'legacy-9']);
  assert.equal((await detokenize(w.live, vault, 'legacy-9')).value, 'new@example.com');
  await assert.rejects(
    call(w.live, 'vaults.import_tokens', { vault: vault.name, content: 'value\nok@example.com\nnot-an-address\n' }),
    refused('validation_error', /^rows\[1\]: value: must be an email address/),
  );
});

test('a file of very many columns, rows or names is refused, and read in time linear to its length', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live);
  const head = Array.from({ length: 200_000 }, (_, i) => `c${i}`).join(',');
  const wide = await made(w.live, 'vaults.import_tokens', {
    vault: vault.id,
    content: `${head},value\n${','.repeat(200_000)}x\n`,
    dry_run: true,
  });
  assert.equal(wide.rows, 1);
  await assert.rejects(
    call(w.live, 'vaults.import_tokens', { vault: vault.id, content: `value,${head}\n${'x\n'.repeat(500_000)}` }),
    refused('validation_error', /more than 10,000 rows/),
  );
  const members = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`m${i}`, 'value']));
  await assert.rejects(
    call(w.live, 'vaults.import_tokens', { vault: vault.id, content: 'value\nx\n', columns: { metadata: members } }),
    refused('validation_error', /at most 100 columns/),
  );
  const columns = { value: 'value' };
  const table = (size: number) => `value,${head.slice(0, size)}\n${'x\n'.repeat(size / 2)}`;
  await assertGrowsLinearly('columns times rows', 20_000, table, (content) => {
    for (const row of csvRows(content, columns)) assert.equal(Object.keys(row).length, 1);
  });
});

test('as many rows as a file may have keep nobody waiting, tried or imported', async () => {
  const w = await workspace();
  const content = `value,kind\n${Array.from({ length: 10_000 }, (_, i) => `user${i}@example.com,${i}\n`).join('')}`;
  const lines = Array.from({ length: 10_000 }, (_, i) => `{"value":"user${i}@example.com"}\n`).join('');
  for (const settings of [{ dedupe: true, token_format: 'email' }, { custody_mode: 'dual' }]) {
    const vault = await vaultOf(w.live, settings);
    for (const input of [
      { content, columns: { value: 'value', metadata: { kind: 'kind' } } },
      { content: lines, format: 'jsonl' },
    ]) {
      const tried = await neverBlocks(() => made(w.live, 'vaults.import_tokens', { vault: vault.id, ...input, dry_run: true }));
      assert.equal(tried.rows, 10_000);
    }
    const imported = await neverBlocks(() => made(w.live, 'vaults.import_tokens', { vault: vault.id, content }));
    assert.equal(imported.imported, 10_000);
  }
});

test('metadata is replaced, deleted tokens are gone at once, and deleting many names those that are not there', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live);
  const tokens = await tokenize(w.live, vault, [{ value: 'a' }, { value: 'b' }, { value: 'c' }]);
  const [first, second, third] = tokens.map(({ token }) => token);
  await call(w.live, 'vaults.update_token', { vault: vault.id, token: first, metadata: { x: 1 } });
  assert.deepEqual((await detokenize(w.live, vault, first ?? '')).metadata, { x: 1 });
  for (const field of [{ value: 'z' }, { ttl_seconds: 5 }, { card_exp_month: 1 }])
    await assert.rejects(
      call(w.live, 'vaults.update_token', { vault: vault.id, token: first, metadata: {}, ...field }),
      refused('validation_error'),
    );
  await call(w.live, 'vaults.delete_token', { vault: vault.id, token: first });
  await assert.rejects(call(w.live, 'vaults.delete_token', { vault: vault.id, token: first }), refused('not_found'));
  const result = await made(w.live, 'vaults.delete_tokens', { vault: vault.id, tokens: [second, first, tokens[2]?.id, 'nothing'] });
  assert.deepEqual(result, { deleted: 2, not_found: [first, 'nothing'] });
  await assert.rejects(detokenize(w.live, vault, third ?? ''), refused('not_found'));
  const { rows } = await sql().query('select wrapped_value, metadata from vault_tokens where vault_id = $1', [vault.id]);
  assert.ok(rows.every((row) => row.wrapped_value === null && row.metadata === null));
});
