import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { startGateway } from '#server/gateway/gateway.fixture.ts';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { areMet } from '#server/kernel/needs.ts';
import { type AnyOperation, isChange } from '#server/kernel/operation.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { samples } from '#server/testing/samples.ts';
import { keyActor, memberActor, workspace } from '#server/testing/workspace.ts';
import { operations } from './operations.ts';
import { perform } from './perform.ts';

await testDatabase();

const { rows: columns } = await sql().query<{ table: string }>(
  `select c.table_name as table from information_schema.columns c join information_schema.tables t on t.table_name = c.table_name and t.table_schema = c.table_schema
    where c.table_schema = 'public' and c.column_name = 'tenant_id' and t.table_type = 'BASE TABLE' order by 1`,
);
const infrastructure = KEY_ROLES.at(-1) ?? assert.fail();
/** Stamps of use, which are written beside the work and say nothing of its outcome. */
const BESIDE = new Set(['credential_usage', 'api_key_uses']);
const tables = columns.map(({ table }) => table).filter((table) => !BESIDE.has(table));

/** Everything a workspace has, in one text. */
async function everythingOf(tenantId: string): Promise<string> {
  const parts = tables.map(
    (table) => `select '${table}' as name, md5(string_agg(r::text, '|' order by r::text)) as sum from ${table} r where tenant_id = $1`,
  );
  const { rows } = await sql().query<{ name: string; sum: string | null }>(parts.join(' union all '), [tenantId]);
  return rows.map(({ name, sum }) => `${name} ${sum}`).join('\n');
}

await sql().query(`create function no_trail() returns trigger language plpgsql as $$ begin raise exception 'the trail is full'; end $$`);

describe('what cannot be written down is not done: without its audit entry no operation changes anything', () => {
  const changing = operations.filter((o) => o.needs !== 'anonymous' && isChange(o));
  // Routes are tried by the gateway of the node, which reads every workspace after each of its changes: it starts for the last test.
  const byGateway = (op: AnyOperation) => op.id === 'routes.test';
  for (const op of [...changing.filter((o) => !byGateway(o)), ...changing.filter(byGateway)])
    test(op.id, async () => {
      if (byGateway(op)) await (await startGateway()).controlSocket.listen(controlSocketPath());
      const w = await workspace();
      const person = op.http.includes(' /admin/') || !areMet(op.needs, infrastructure.capabilities);
      const ctx = w.ctx('live', person ? memberActor('owner') : keyActor(infrastructure.name));
      const input = await samples[op.id]?.(ctx);
      const before = await everythingOf(w.tenant.id);
      for (const table of ['audit_logs', 'audit_log_critical'])
        await sql().query(
          `create trigger no_trail before insert on ${table} for each row when (new.tenant_id = '${w.tenant.id}') execute function no_trail()`,
        );
      try {
        await assert.rejects(perform(op, ctx, input), (error: unknown) => {
          const { status, type } = asRefusal(error);
          assert.ok(status === 500 || type === 'audit_unavailable', `${type}: ${String(error)}`);
          return true;
        });
        assert.equal(await everythingOf(w.tenant.id), before);
      } finally {
        for (const table of ['audit_logs', 'audit_log_critical']) await sql().query(`drop trigger no_trail on ${table}`);
      }
    });
});
