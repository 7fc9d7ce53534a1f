import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { operationById } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeVault } from './vaults.fixture.ts';

await testDatabase();

test('a revealed page has fifty tokens without values, a revealed token its value, and each reveal two audit entries', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { name: 'cards', token_format: 'pan' });
  await tokenize(
    w.live,
    vault,
    Array.from({ length: 51 }, () => ({ value: '4242424242424242' })),
  );
  const owner = w.member('owner');
  const reveal = async (id: string, input: Record<string, unknown>) => {
    await verified(owner, 'plaintext.reveal');
    return (await perform(operationById(id), owner, { vault: 'cards', ...input })).output;
  };
  const page = await reveal('vaults.reveal_tokens', {});
  assert.deepEqual([page.tokens.length, page.total, page.page, page.per_page], [50, 51, 1, 50]);
  assert.deepEqual([page.tokens[0].format, page.tokens[0].last4], ['pan', '4242']);
  assert.ok(!JSON.stringify(page).includes('4242424242424242'));
  assert.equal((await reveal('vaults.reveal_tokens', { page: '2' })).tokens.length, 1);
  assert.equal((await reveal('vaults.reveal_token', { token: page.tokens[0].token })).value, '4242424242424242');
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, action: { in: ['plaintext.reveal', 'vault.detokenize'] } },
    orderBy: { seq: 'asc' },
  });
  assert.deepEqual(
    entries.map(({ action, resource_type }) => `${action} ${resource_type}`),
    ['vault', 'vault', 'vault_token'].flatMap((type) => [`plaintext.reveal ${type}`, `vault.detokenize ${type}`]),
  );
  assert.equal(entries.at(-1)?.resource_id, page.tokens[0].id);
});

test('what refuses an opening refuses it before a verification is spent', async () => {
  const w = await workspace();
  const vault = await makeVault(w.live, { name: 'cards' });
  const [token] = await tokenize(w.live, vault, [{ value: 'v' }]);
  const owner = w.member('owner');
  await verified(owner, 'plaintext.reveal');
  const reveal = (ref: string) => perform(operationById('vaults.reveal_token'), owner, { vault: 'cards', token: ref });
  await assert.rejects(reveal('nothing'), { type: 'not_found' });
  await db().vaults.update({ where: { id: vault.id }, data: { enabled: false } });
  await assert.rejects(reveal(token?.token ?? ''), { type: 'vault_disabled' });
  await db().vaults.update({ where: { id: vault.id }, data: { enabled: true } });
  assert.equal((await reveal(token?.token ?? '')).output.value, 'v');
});
