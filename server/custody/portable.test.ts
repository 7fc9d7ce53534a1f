import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { destroyVersion, storedKey } from '#server/testing/stored-keys.ts';
import { workspace } from '#server/testing/workspace.ts';
import { opener, openValue, sealerOf, sealValue } from './portable.ts';

await testDatabase();

const text = (value: string) => ({ datatype: 's' as const, bytes: Buffer.from(value) });
const sealedBy = async (ctx: Ctx, value: string, more: { key?: string; role?: string } = {}) =>
  (await sealValue(ctx, { ...text(value), ...more })).text;
const opened = async (ctx: Ctx, sealed: string, role?: string) => (await openValue(ctx, sealed, { role })).bytes.toString();

test('the default key is made once, however many calls come first at the same time', async () => {
  const w = await workspace();
  const ctx = w.live;
  const sealers = await Promise.all(Array.from({ length: 12 }, () => sealerOf(ctx)));
  assert.equal(new Set(sealers.map(({ key }) => key.id)).size, 1);
  const keys = await db().crypto_keys.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    keys.map(({ name, key_type, managed_by, sandbox }) => ({ name, key_type, managed_by, sandbox })),
    [{ name: 'kc-default', key_type: 'ecdh-p256', managed_by: 'service', sandbox: ctx.sandbox }],
  );
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'crypto_key', action: 'create' } });
  assert.deepEqual([entries.length, entries[0]?.resource_id], [1, keys[0]?.id]);
  assert.equal(await opened(ctx, await sealedBy(ctx, 'first')), 'first');
});

test('opens only for its workspace and space, with its role', async () => {
  const w = await workspace();
  const ctx = w.live;
  const sealed = await sealedBy(ctx, 'secret', { role: 'pci' });
  assert.equal(await opened(ctx, sealed, 'pci'), 'secret');
  const unbound = await sealedBy(ctx, 'x');
  const other = (await workspace()).live;
  const cases: [string, () => Promise<unknown>][] = [
    ['no role', () => opened(ctx, sealed)],
    ['another role', () => opened(ctx, sealed, 'eu')],
    ['a role where none was bound', () => opened(ctx, unbound, 'pci')],
    ['another workspace', () => opened(other, sealed, 'pci')],
    ['the other space', () => opened({ ...ctx, sandbox: !ctx.sandbox }, sealed, 'pci')],
  ];
  const messages = new Set<string>();
  for (const [what, attempt] of cases)
    await assert.rejects(attempt(), (error: Error & { type: string }) => {
      messages.add(error.message);
      return error.type === 'decrypt_failed' || assert.fail(`${what}: ${error.type}`);
    });
  assert.equal(messages.size, 1, 'one message for every cause');
});

test('retired versions open, destroyed and disabled ones say so, unknown ones are like any fault', async () => {
  const ctx = (await workspace()).live;
  const key = await storedKey(ctx, { key_type: 'ecdh-p256' });
  const old = await sealedBy(ctx, 'old', { key: key.name });
  const rotated = await storedKey(ctx, { key_type: 'ecdh-p256', versions: 2 });
  const current = await sealedBy(ctx, 'new', { key: rotated.name });
  assert.equal((await openValue(ctx, current)).version, 2);
  assert.equal(await opened(ctx, old), 'old');
  await db().crypto_keys.update({ where: { id: rotated.id }, data: { min_decryption_version: 2 } });
  assert.equal(await opened(ctx, current), 'new');
  const [header, ...rest] = current.split(':');
  const named = (version: number) =>
    [header, ...rest.slice(0, 2), Buffer.from(`${ctx.tenant_id}:${rotated.id}:${version}`).toString('base64url'), ...rest.slice(3)].join(
      ':',
    );
  await assert.rejects(opened(ctx, named(1)), { type: 'key_version_disabled' });
  await assert.rejects(opened(ctx, named(3)), { type: 'decrypt_failed' });
  await db().crypto_keys.update({ where: { id: rotated.id }, data: { min_decryption_version: 1 } });
  await destroyVersion(rotated.versions[0] as string);
  await assert.rejects(opened(ctx, named(1)), { type: 'key_version_destroyed', status: 410 });
  await db().crypto_keys.update({ where: { id: key.id }, data: { deleted_at: new Date() } });
  await assert.rejects(opened(ctx, old), { type: 'decrypt_failed' });
});

test('seals only under a key of this space that can, and that no vault owns', async () => {
  const ctx = (await workspace()).live;
  const aes = await storedKey(ctx);
  const vault = await storedKey(ctx, { key_type: 'ecdh-p256', managed_by: 'vault' });
  const foreign = await storedKey((await workspace()).live, { key_type: 'ecdh-p256' });
  for (const key of [aes.name, vault.name, foreign.name, foreign.id, 'nothing', ''])
    await assert.rejects(sealedBy(ctx, 'x', { key }), { type: 'validation_error' }, key);
  for (const role of ['PCI', 'a|b', '', '-a', 'a'.repeat(64)])
    await assert.rejects(sealedBy(ctx, 'x', { role }), { type: 'validation_error' }, role);
});

test('a value that a vault owns does not open without the vault', async () => {
  const ctx = (await workspace()).live;
  const key = await storedKey(ctx, { key_type: 'ecdh-p256' });
  const sealed = await sealedBy(ctx, 'x', { key: key.name });
  await db().crypto_keys.update({ where: { id: key.id }, data: { managed_by: 'vault' } });
  await assert.rejects(opened(ctx, sealed), { type: 'decrypt_failed' });
});

test('a call reads each key once, and asks once whether the caller may use it', async () => {
  const ctx = (await workspace()).live;
  const texts = await Promise.all(['a', 'b', 'c'].map((value) => sealedBy(ctx, value)));
  const asked: string[] = [];
  const { open } = opener(ctx, { admit: async ({ name }) => void asked.push(name) });
  assert.deepEqual(await Promise.all(texts.map(async (one) => (await open(one)).bytes.toString())), ['a', 'b', 'c']);
  assert.deepEqual(asked, ['kc-default']);
});
