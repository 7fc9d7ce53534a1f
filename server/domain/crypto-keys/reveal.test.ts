import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { flushUses } from '#server/custody/uses.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made, operationById } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';

await testDatabase();

const encrypt = (ctx: Ctx, name: string, input: object = { plaintext: 'Jane' }) => made(ctx, 'crypto_keys.encrypt', { name, ...input });
const key = async (ctx: Ctx, input: object = {}) =>
  (await made(ctx, 'crypto_keys.create', { name: fresh('key'), ...input })).name as string;

/** A reveal by an Owner who has confirmed. @returns the output, and how many verifications are left */
async function reveal(w: Workspace, owner: Ctx, id: 'reveal_decrypt' | 'reveal_rewrap', input: Record<string, unknown>) {
  await verified(owner, 'plaintext.reveal');
  const call = { ...owner, request_id: newId() };
  const outcome: { output?: Record<string, unknown>; refused?: string } = await perform(
    operationById(`crypto_keys.${id}`),
    call,
    input,
  ).then(
    ({ output }) => ({ output: output as Record<string, unknown> }),
    (error: { type: string }) => ({ refused: error.type }),
  );
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, request_id: call.request_id },
    orderBy: { seq: 'asc' },
  });
  const spent = (await db().step_up_verifications.count({ where: { user_id: owner.actor.id as string, consumed_at: null } })) === 0;
  await db().step_up_verifications.deleteMany({ where: { user_id: owner.actor.id as string } });
  return { ...outcome, spent, entries: entries.map(({ action, details }) => ({ action, details: details as Record<string, unknown> })) };
}

test('a person decrypts behind the gate: text and bytes, with the entry of the decryption beside that of the reveal', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const name = await key(w.live);
  const { ciphertext } = await encrypt(w.live, name);
  const shown = await reveal(w, owner, 'reveal_decrypt', { name, ciphertext });
  assert.deepEqual(shown.output, { plaintext: 'Jane', plaintext_b64: 'SmFuZQ==', key_version: 1 });
  assert.deepEqual(
    shown.entries.map(({ action, details }) => [action, details.name, details.key_version]),
    [
      ['plaintext.reveal', name, 1],
      ['transit.decrypt', name, 1],
    ],
  );
  assert.ok(!JSON.stringify(shown.entries).includes('SmFuZQ'));
  const binary = await encrypt(w.live, name, { plaintext_b64: '/w==' });
  assert.deepEqual((await reveal(w, owner, 'reveal_decrypt', { name, ciphertext: binary.ciphertext })).output, {
    plaintext: null,
    plaintext_b64: '/w==',
    key_version: 1,
  });
});

test('a person moves a ciphertext to the active version and sees no plaintext', async () => {
  const w = await workspace();
  const name = await key(w.live);
  const { ciphertext } = await encrypt(w.live, name, { plaintext: 'Jane', associated_data_b64: 'cm93' });
  await made(w.live, 'crypto_keys.rotate', { name });
  const owner = w.member('owner');
  const moved = await reveal(w, owner, 'reveal_rewrap', { name, ciphertext, associated_data_b64: 'cm93' });
  assert.deepEqual(Object.keys(moved.output ?? {}), ['ciphertext', 'key_version']);
  assert.match(String(moved.output?.ciphertext), /^svc:v2:/);
  assert.deepEqual(
    moved.entries.map(({ action, details }) => [action, details.key_version, details.to_version]),
    [
      ['plaintext.reveal', 1, 2],
      ['transit.decrypt', 1, 2],
    ],
  );
  const { plaintext } = await made(w.live, 'crypto_keys.decrypt', {
    name,
    ciphertext: moved.output?.ciphertext,
    associated_data_b64: 'cm93',
    format: 'utf8',
  });
  assert.equal(plaintext, 'Jane');
  await flushUses();
});

test('what is wrong with the call spends nothing; what only decrypting shows is spent, refused and recorded', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const name = await key(w.live);
  const { ciphertext } = await encrypt(w.live, name);
  const signing = await key(w.live, { key_type: 'ed25519' });
  await made(w.live, 'crypto_keys.rotate', { name });
  await made(w.live, 'crypto_keys.update', { name, min_decryption_version: 2, deletion_allowed: true });
  const attempt = async (input: Record<string, unknown>) => {
    const { refused, spent, entries } = await reveal(w, owner, 'reveal_decrypt', input);
    return [refused, spent, entries.length];
  };
  assert.deepEqual(await attempt({ name: 'nobody', ciphertext }), ['not_found', false, 0]);
  assert.deepEqual(await attempt({ name: signing, ciphertext }), ['validation_error', false, 0]);
  assert.deepEqual(await attempt({ name, ciphertext: 'svc:v1:AA==' }), ['validation_error', false, 0]);
  assert.deepEqual(await attempt({ name, ciphertext: ciphertext.replace('v1', 'v9') }), ['decrypt_failed', false, 0]);
  assert.deepEqual(await attempt({ name, ciphertext }), ['key_version_disabled', false, 0]);
  await made(w.live, 'crypto_keys.destroy_version', { name, n: '1' });
  assert.deepEqual(await attempt({ name, ciphertext }), ['key_version_destroyed', false, 0]);
  assert.deepEqual(await attempt({ name, ciphertext: ciphertext.replace('v1', 'v2') }), ['decrypt_failed', true, 3]);
  const inTest = await key(w.test);
  const other = await encrypt(w.test, inTest);
  assert.deepEqual(await attempt({ name: inTest, ciphertext: other.ciphertext }), ['not_found', false, 0]);
});
