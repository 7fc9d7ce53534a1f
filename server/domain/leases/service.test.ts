import assert from 'node:assert/strict';
import test from 'node:test';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { LeaseHandler } from '#server/kernel/lease.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { sweepLeases } from './service.ts';

await ownDatabase();
const now = new Date();
const later = (ms: number) => new Date(now.getTime() + ms);
const HOUR = 3_600_000;

/** Leases of a kind of their own, due since yesterday. */
async function leases(count: number): Promise<{ kind: string; ids: string[] }> {
  const [kind, ids] = [`test-${newId()}`, Array.from({ length: count }, newId)];
  await sql().query(
    "insert into leases (kind, resource_id, next_at) select $1, id, $3::timestamptz - interval '1 day' from unnest($2::uuid[]) id",
    [kind, ids, now],
  );
  return { kind, ids };
}
const sweep = (kind: string, handler: LeaseHandler, at = now) => sweepLeases({ [kind]: handler }, { db: db(), now: at });
const rows = (kind: string) => db().leases.findMany({ where: { kind }, orderBy: { resource_id: 'asc' } });

/** Notes each lease it handles in the database, so that what was rolled back does not count. */
function noting(kind: string, extra: Partial<LeaseHandler> = {}): LeaseHandler {
  return {
    batch: 20,
    handle: async (tx, due) => {
      for (const { resource_id } of due)
        await tx.$executeRaw`insert into deployment_values (name, value) values (${`${kind} ${resource_id} ${newId()}`}, 'null')`;
      return { next: new Map(), acted: due.length };
    },
    ...extra,
  };
}
const noted = async (kind: string) =>
  (await db().deployment_values.findMany({ where: { name: { startsWith: kind } } })).map(({ name }) => name.split(' ')[1]);

test('what came due while no worker ran is handled once, also by two workers that start together', async () => {
  const { kind, ids } = await leases(250);
  const acted = await Promise.all([sweep(kind, noting(kind)), sweep(kind, noting(kind))]);
  assert.equal((acted[0][kind] ?? 0) + (acted[1][kind] ?? 0), 250);
  assert.deepEqual((await noted(kind)).sort(), ids.sort());
  assert.deepEqual(await rows(kind), []);
});

test('a lease that is due again later stays, one that is not due is left alone', async () => {
  const { kind, ids } = await leases(2);
  const again = later(HOUR);
  const handler: LeaseHandler = { handle: async () => ({ next: new Map([[ids[0]!, again]]), acted: 2 }) };
  assert.deepEqual(await sweep(kind, handler), { [kind]: 2 });
  assert.deepEqual(
    (await rows(kind)).map(({ resource_id, next_at }) => [resource_id, next_at]),
    [[ids[0], again]],
  );
  assert.deepEqual(await sweep(kind, handler, later(HOUR - 1)), {});
  assert.deepEqual(await sweep(kind, handler, again), { [kind]: 2 });
});

test('a lease that cannot be handled is retried later and later, and holds up no other', async () => {
  const { kind, ids } = await leases(30);
  const broken = ids[7]!;
  const handler = noting(kind, {
    handle: async (tx, due) => {
      const outcome = await noting(kind).handle(tx, due, now);
      if (due.some(({ resource_id }) => resource_id === broken)) throw new Error('this one is broken');
      return outcome;
    },
  });
  assert.deepEqual(await sweep(kind, handler), { [kind]: 29 });
  assert.deepEqual((await noted(kind)).sort(), ids.filter((id) => id !== broken).sort(), 'what failed left nothing');
  const waits: number[] = [];
  for (let at = now, i = 0; i < 4; i++) {
    const [row] = await rows(kind);
    assert.deepEqual([row?.resource_id, row?.attempts, row?.locked_by], [broken, i + 1, null]);
    waits.push(row!.next_at.getTime() - at.getTime());
    at = row!.next_at;
    await sweep(kind, handler, at);
  }
  for (let i = 1; i < waits.length; i++) assert.ok(waits[i]! > waits[i - 1]! * 1.5, `${waits}`);
});

test('the leases of a worker that died are handled once its lock has run out', async () => {
  const { kind } = await leases(1);
  await sql().query("update leases set locked_by = $2, locked_until = now() + interval '1 minute' where kind = $1", [kind, newId()]);
  assert.deepEqual(await sweep(kind, noting(kind)), {});
  await sql().query("update leases set locked_until = now() - interval '1 second' where kind = $1", [kind]);
  assert.deepEqual(await sweep(kind, noting(kind)), { [kind]: 1 });
});

test('a worker begins nothing it might not end before its lock does, and what another has taken over is rolled back', async () => {
  const { kind } = await leases(1);
  const meanwhile = (change: string) =>
    noting(kind, {
      handle: async (tx, due) => {
        const outcome = await noting(kind).handle(tx, due, now);
        await sql().query(`update leases set ${change} where kind = $1`, [kind]);
        return outcome;
      },
    });
  const slow: LeaseHandler = {
    ...noting(kind),
    release: async () => void (await sql().query("update leases set locked_until = now() + interval '30 seconds' where kind = $1", [kind])),
  };
  assert.deepEqual(await sweep(kind, slow), {});
  await sql().query('update leases set locked_until = null where kind = $1', [kind]);
  assert.deepEqual(await sweep(kind, meanwhile('locked_by = gen_random_uuid()')), {});
  assert.deepEqual(await noted(kind), []);
  await sql().query('update leases set locked_until = null where kind = $1', [kind]);
  assert.deepEqual(await sweep(kind, noting(kind)), { [kind]: 1 });
});

test('a lease that is woken while it is handled is handled again', async () => {
  const { kind, ids } = await leases(1);
  let runs = 0;
  const handler: LeaseHandler = {
    handle: async () => {
      if (++runs === 1) await sql().query('update leases set version = version + 1, next_at = $2 where kind = $1', [kind, now]);
      return { next: new Map([[ids[0]!, later(HOUR)]]), acted: 1 };
    },
  };
  await sweep(kind, handler);
  await sweep(kind, handler);
  assert.deepEqual([runs, (await rows(kind))[0]?.next_at], [2, later(HOUR)]);
});

test('work outside of the database that fails postpones its own lease only', async () => {
  const { kind, ids } = await leases(12);
  const handler = noting(kind, {
    release: async ({ resource_id }) => {
      if (resource_id === ids[3]) throw new Error('the server of the customer is down');
    },
  });
  assert.deepEqual(await sweep(kind, handler), { [kind]: 11 });
  assert.deepEqual(
    (await rows(kind)).map(({ resource_id, attempts }) => [resource_id, attempts]),
    [[ids[3], 1]],
  );
});

test('a workspace reaches leases of its own space only', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const ends = { expires_at: later(HOUR) };
  const [own] = [await w.key('live', undefined, ends), await w.key('test', undefined, ends), await other.key('live', undefined, ends)];
  const seen = await inTransaction(w.live, (tx) => tx.leases.findMany());
  assert.deepEqual(
    seen.map(({ resource_id }) => resource_id),
    [own.row.id],
  );
  const moved = await inTransaction(w.live, (tx) => tx.leases.updateMany({ data: { next_at: now } }));
  assert.equal(moved.count, 1);
  await assert.rejects(
    inTransaction(w.live, (tx) =>
      tx.leases.create({ data: { kind: 'api_key', resource_id: newId(), tenant_id: other.tenant.id, next_at: now } }),
    ),
    /row-level security/,
  );
});

test('a row gets its lease when it gets an end, wakes it when the end moves, and takes it along when it goes', async () => {
  const w = await workspace();
  const { id } = (await w.key()).row;
  const lease = () => db().leases.findUnique({ where: { kind_resource_id: { kind: 'api_key', resource_id: id } } });
  assert.equal(await lease(), null);
  await db().api_keys.update({ where: { id }, data: { expires_at: later(HOUR) } });
  const version = (await lease())!.version;
  await db().api_keys.update({ where: { id }, data: { expires_at: later(2 * HOUR) } });
  assert.equal((await lease())!.version, version + 1);
  await db().api_keys.update({ where: { id }, data: { name: 'renamed' } });
  assert.equal((await lease())!.version, version + 1);
  await db().api_keys.delete({ where: { id } });
  assert.equal(await lease(), null);
});
