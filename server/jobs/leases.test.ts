import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { leaseHandlers } from './leases.ts';

await testDatabase();

test('every kind of lease that the database makes has a handler, and the reverse', async () => {
  const { rows } = await sql().query<{ kind: string }>(
    `select distinct split_part(encode(tgargs, 'escape'), '\\000', 1) as kind from pg_trigger t join pg_proc p on p.oid = t.tgfoid where p.proname = 'wake_lease'`,
  );
  const handled = Object.keys({ ...leaseHandlers('tick'), ...leaseHandlers('hour'), ...leaseHandlers('apart') });
  assert.deepEqual(rows.map(({ kind }) => kind).sort(), handled.sort());
});
