import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { discover } from './discovery.ts';
import { type Provider, ProviderFault } from './providers/provider.ts';

await testDatabase();

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const PAGE = 2;
/** Calls that reading the whole store takes: three pages and five values. */
const CALLS = 8;
const RATE = 100_000;

/** A store that never answers its `dead`th call: what a worker that was killed leaves behind, no cleanup of its own included. */
function store(dead = Number.POSITIVE_INFINITY) {
  const asked: string[] = [];
  const died = Promise.withResolvers<void>();
  const end = Promise.withResolvers<never>();
  end.promise.catch(() => {});
  const call = async (what: string): Promise<void> => {
    asked.push(what);
    if (asked.length !== dead) return;
    died.resolve();
    await end.promise;
  };
  const provider: Provider = {
    probe: async () => {},
    async list(cursor) {
      const from = Number(cursor?.from ?? 0);
      await call(`list ${from}`);
      const entries = NAMES.slice(from, from + PAGE).map((name) => ({
        ...{ ref: `store/${name}`, name, version: '1', region: '', updated_at: null, tags: {} },
      }));
      return { entries, next: from + PAGE < NAMES.length ? { from: from + PAGE } : null };
    },
    async readValue({ name }) {
      await call(`read ${name}`);
      return { version: '1', bytes: Buffer.from(`value of ${name}`), binary: false };
    },
    close: async () => {},
  };
  return { asked, died: died.promise, open: async () => provider, wake: () => end.reject(new ProviderFault('unreachable', 'late')) };
}

test('a migration killed at any step goes on without loss, duplicates or a value read twice', async () => {
  for (let step = 1; step <= CALLS; step++) {
    const ctx = (await workspace()).member('owner');
    const { id } = await made(ctx, 'migrations.create', { provider: 'env_file', content: 'A=1\n', file_name: `${fresh('f')}.env` });
    const killed = store(step);
    const zombie = discover(db(), id, { open: killed.open, rate: RATE });
    await killed.died;
    const next = store();
    assert.equal(await discover(db(), id, { open: next.open, rate: RATE }), null, `step ${step}: the lease still stands`);
    await db().secret_migrations.update({ where: { id }, data: { lease_expires_at: new Date(Date.now() - 1) } });
    await discover(db(), id, { open: next.open, rate: RATE });
    // The first one was only slow, as after a pause of its machine: it changes nothing any more.
    killed.wake();
    assert.equal(await zombie, null);
    const items = await db().secret_migration_items.findMany({ where: { migration_id: id }, orderBy: { source_name: 'asc' } });
    assert.deepEqual(
      items.map((item) => [item.source_name, item.status, item.value_ct !== null]),
      NAMES.map((name) => [name, 'pending_review', true]),
      `step ${step}`,
    );
    const { status, discovered_count, error_details } = await made(ctx, 'migrations.get', { id });
    assert.deepEqual([status, discovered_count, error_details], ['awaiting_review', 5, null], `step ${step}`);
    const [before, after] = [killed, next].map(({ asked }) => asked.filter((one) => one.startsWith('read')));
    const lost = killed.asked.at(-1)?.startsWith('read') ? 1 : 0;
    assert.equal((before?.length ?? 0) + (after?.length ?? 0), NAMES.length + lost, `step ${step}: a value was read twice`);
  }
});
