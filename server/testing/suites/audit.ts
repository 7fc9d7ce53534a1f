import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { perform } from '#server/api/perform.ts';
import { flushUses } from '#server/custody/uses.ts';
import { startGateway } from '#server/gateway/gateway.fixture.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { type AnyOperation, isChange } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { sql } from '#server/platform/sql.ts';
import type { Fixture } from '../factories.ts';
import { oncePerFile } from '../file-end.ts';
import { refuseInserts } from '../refused-inserts.ts';
import { type Workspace, workspace } from '../workspace.ts';
import type { Subject } from './subject.ts';

export async function auditCount(w: Workspace): Promise<number> {
  await flushUses();
  return db().audit_logs.count({ where: { tenant_id: w.tenant.id } });
}

/** Interface rule 61: a change and its audit entry commit together or not at all. */
export function audit(subject: Subject): void {
  writesOneEntry(subject);
  changesNothingWithoutEntry(subject);
}

function writesOneEntry(subject: Subject): void {
  const { name, operations, sample, caller, keyMay, fixture } = subject;
  describe('every change and every use of a key leaves an audit entry with actor and request id, and a read leaves none; an export counts as a disclosure', () => {
    for (const op of gatewayLast(
      subject,
      operations.filter(({ kind }) => kind !== 'reveal'),
    ))
      test(op.id, async () => {
        await withGateway(subject, op);
        const w = await workspace();
        const ctx = caller(op, w);
        const input = await sample(op, ctx);
        const before = await auditCount(w);
        // What the sample needs may have been somebody else's critical action.
        const criticalBefore = await db().audit_log_critical.count({ where: { tenant_id: w.tenant.id } });
        await perform(op, ctx, input);
        await flushUses();
        const written = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' }, skip: before });
        if ((!isChange(op) && op.kind !== 'use' && !(op.stream && !op.media && op.needs !== 'any')) || fixture.unaudited?.[op.id])
          return assert.equal(written.length, 0, 'a read wrote an audit entry');
        const critical = await db().audit_log_critical.findMany({
          where: { tenant_id: w.tenant.id },
          orderBy: { sequence_number: 'asc' },
          skip: criticalBefore,
        });
        assert.ok(written.length + critical.length >= 1, 'no audit entry');
        for (const entry of critical) assert.deepEqual([entry.actor_id, entry.request_id], [ctx.actor.id, ctx.request_id]);
        for (const entry of written) {
          const details = entry.details as { sandbox: boolean; actor: { type: string; id: string }; request_id: string };
          // Operations on both spaces write to both, each entry where its row is.
          assert.deepEqual(
            [details.sandbox, details.actor.type, details.actor.id, details.request_id],
            [
              name === 'sandbox' ? entry.sandbox : false,
              keyMay(op) ? (op.oauth_only ? 'oauth_client' : 'api_key') : 'user',
              ctx.actor.id,
              ctx.request_id,
            ],
          );
          assert.equal(entry.request_id, ctx.request_id);
        }
      });
  });
}

function changesNothingWithoutEntry(subject: Subject): void {
  const { operations, tables, sample, caller, fixture } = subject;
  describe('without its audit entry no operation changes anything', () => {
    for (const op of gatewayLast(
      subject,
      operations.filter((one) => isChange(one) && !fixture.unaudited?.[one.id]),
    ))
      test(op.id, async () => {
        await withGateway(subject, op);
        const w = await workspace();
        const ctx = caller(op, w);
        const input = await sample(op, ctx);
        await flushUses(); // entries that are still on their way
        const release = await refuseAuditEntries(w);
        try {
          const before = await contentsOf(tables, w);
          await assert.rejects(perform(op, ctx, input), (error: unknown) => {
            const { status, type } = asRefusal(error);
            assert.ok(status === 500 || type === 'audit_unavailable', `${type}: ${String(error)}`);
            return true;
          });
          assert.equal(await contentsOf(tables, w), before);
        } finally {
          await release();
        }
      });
  });
}

/** Makes every insert into the audit tables of a workspace fail until released. */
export async function refuseAuditEntries(w: Workspace): Promise<() => Promise<void>> {
  const releases = [
    await refuseInserts('audit_logs', 'tenant_id', w.tenant.id),
    await refuseInserts('audit_log_critical', 'tenant_id', w.tenant.id),
  ];
  return async () => {
    for (const release of releases) await release();
  };
}

/** Written beside the work: says nothing of its outcome. */
const STAMPS = new Set(['credential_usage', 'api_key_uses', 'audit_logs', 'audit_log_critical', 'audit_chain_heads']);

/** One digest per table of the family, and the number of rows of every counted table of the workspace. */
export async function contentsOf(tables: readonly string[], w: Workspace): Promise<string> {
  const digests = tables
    .filter((table) => !STAMPS.has(table))
    .map(
      (table) => `select '${table}' as name, md5(string_agg(r::text, '|' order by r::text)) as sum from ${table} r where tenant_id = $1`,
    );
  const counts = `select 'row_counts' as name, string_agg(kind || sandbox || n, ' ' order by kind, sandbox) as sum from row_counts where tenant_id = $1 and kind <> 'audit_logs'`;
  const { rows } = await sql().query<{ name: string; sum: string | null }>([...digests, counts].join(' union all '), [w.tenant.id]);
  return rows.map(({ name, sum }) => `${name} ${sum}`).join('\n');
}

/** The gateway reloads its snapshot after every change, so it starts only before the tests that need it, which come last. */
const gatewayLast = ({ fixture }: Subject, operations: readonly AnyOperation[]) => [
  ...operations.filter((op) => !needsGateway(fixture, op)),
  ...operations.filter((op) => needsGateway(fixture, op)),
];
const needsGateway = ({ needsGateway = [] }: Fixture, { id }: AnyOperation) => needsGateway.includes(id);
async function withGateway({ fixture }: Subject, op: AnyOperation): Promise<void> {
  if (!needsGateway(fixture, op)) return;
  await gateway();
}
const gateway = oncePerFile(async () => {
  const { controlSocket } = await startGateway();
  await controlSocket.listen(controlSocketPath());
});
