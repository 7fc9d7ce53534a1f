import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { endCaptureWindows } from './capture.ts';
import { discover } from './discovery.ts';

await testDatabase();

const DAY = 86_400_000;

/** A migration of mode both whose store holds these lines; the fixture reads a file, which no wire input combines with captures. */
async function capturing(lines: readonly string[], { read = true } = {}) {
  const ctx = (await workspace()).member('owner');
  const { id } = await made(ctx, 'migrations.create', {
    ...{ provider: 'env_file', file_name: `${fresh('f')}.env`, content: 'A=1\n' },
  });
  await db().secret_migrations.update({ where: { id }, data: { mode: 'both' } });
  const entries = lines.map((name) => ({ ref: `s/${name}`, name, version: '1', region: '', updated_at: null, tags: {} }));
  const open = async () => ({
    probe: async () => {},
    list: async () => ({ entries, next: null }),
    readValue: async () => ({ version: '1', bytes: Buffer.from('a value'), binary: false }),
    close: async () => {},
  });
  if (read) await discover(db(), id, { open, rate: 100_000 });
  else await db().secret_migrations.update({ where: { id }, data: { status: 'discovering' } });
  return { ctx, id: id as string };
}
const grantOf = (id: string) => db().secret_migration_credentials.findUniqueOrThrow({ where: { migration_id: id } });

test('finishing a capture by hand sends what was found to review', async () => {
  const { ctx, id } = await capturing(['a']);
  const owner = await dashboardPerson();
  await owner.join(ctx.tenant_id, 'owner');
  const events = await watchEvents(ctx, 'migration.awaiting_review', 'migration.completed');
  assert.equal((await made(ctx, 'migrations.get', { id })).status, 'discovering', 'the window is open after the store was read');
  assert.equal((await made(ctx, 'migrations.finish_capture', { id })).status, 'awaiting_review');
  assert.equal(await db().mails.count({ where: { kind: 'migration_awaits_review', text: { contains: id } } }), 1, 'nobody was told');
  await assert.rejects(made(ctx, 'migrations.finish_capture', { id }), { type: 'conflict' });
  assert.deepEqual(
    (await events()).map(({ type, about, data }) => [type, about, data.items]),
    [['migration.awaiting_review', id, 1]],
  );
});

test('finishing an empty capture completes the migration and ends its grant within a day', async () => {
  const { ctx, id } = await capturing([]);
  const events = await watchEvents(ctx, 'migration.awaiting_review', 'migration.completed');
  assert.equal((await made(ctx, 'migrations.finish_capture', { id })).status, 'completed');
  const { expires_at } = await grantOf(id);
  assert.ok(expires_at.getTime() <= Date.now() + DAY, `the grant lives until ${expires_at.toISOString()}`);
  assert.ok((await made(ctx, 'migrations.get', { id })).completed_at);
  assert.deepEqual(
    (await events()).map(({ type, about }) => [type, about]),
    [['migration.completed', id]],
  );
});

test('a capture can not be finished while its store is still being read', async () => {
  const { ctx, id } = await capturing(['a'], { read: false });
  await assert.rejects(made(ctx, 'migrations.finish_capture', { id }), { type: 'conflict', status: 409 });
});

test('a capture window ends by itself after 14 days, and not a day before', async () => {
  const open = await capturing(['a']);
  const old = await capturing(['a']);
  const empty = await capturing([]);
  await db().secret_migrations.update({ where: { id: empty.id }, data: { mode: 'capture', status: 'pending' } });
  const at = (days: number) => ({ created_at: new Date(Date.now() - days * DAY) });
  await db().secret_migrations.update({ where: { id: open.id }, data: at(13) });
  await db().secret_migrations.updateMany({ where: { id: { in: [old.id, empty.id] } }, data: at(14.01) });
  assert.ok((await endCaptureWindows(db(), new Date())) >= 2);
  const statuses = await Promise.all([open, old, empty].map(async ({ ctx, id }) => (await made(ctx, 'migrations.get', { id })).status));
  assert.deepEqual(statuses, ['discovering', 'awaiting_review', 'completed']);
});
