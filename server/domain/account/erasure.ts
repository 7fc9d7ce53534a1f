import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { endProviderSubscription } from '#server/domain/billing/service.ts';
import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { endSharesOf } from '#server/domain/secret-shares/service.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseOutcome } from '#server/kernel/lease.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { addJob } from '#server/platform/queue.ts';
import { sql } from '#server/platform/sql.ts';
import { eraseAt, GRACE_MS } from './deletion.ts';
import { workspaceErased } from './letters.ts';

/** What outlives a workspace: the critical chain with its head, the anchors of the log that it refers to, and the tombstone itself. */
const KEPT = ['audit_log_critical', 'audit_chain_heads', 'tenants', 'reserved_slugs'];
const BATCH = 5_000;
const SLUG_RESERVED_MS = 90 * 24 * 3_600_000;

/**
 * Destroys the keys of workspaces whose 14 days are over: critical audit first, then the end of their shares, then every version of the master key, so that
 * nothing the workspace sealed can be opened again, backups included (interface rule 31 §12). The rows follow by a job.
 */
export async function eraseDeleted(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const next = new Map<string, Date>();
  const erased: string[] = [];
  const mails: string[] = [];
  for (const { resource_id: id } of due) {
    await tx.$queryRaw`select 1 from tenants where id = ${id}::uuid for update`;
    const tenant = await tx.tenants.findFirst({ where: { id, deleted_at: { not: null }, erased_at: null } });
    if (!tenant?.deleted_at) continue; // restored
    if (eraseAt(tenant.deleted_at) > now) next.set(id, eraseAt(tenant.deleted_at));
    else {
      mails.push(...(await erase(tx, tenant, now)));
      erased.push(id);
    }
  }
  return { next, acted: erased.length, committed: () => forget(erased, mails) };
}

/** Keys in the memory of this process; the others drop theirs when the workspace leaves their snapshot. */
function forget(ids: readonly string[], mails: readonly string[]): void {
  for (const id of ids) keyring().evict(id);
  for (const id of mails) dispatch(db(), id);
}

/** The provider is told before the keys go; it may be told twice. */
export async function endSubscription({ resource_id }: Lease): Promise<void> {
  const over = await db().tenants.count({
    where: { id: resource_id, deleted_at: { lte: new Date(Date.now() - GRACE_MS) }, erased_at: null },
  });
  if (over > 0) await endProviderSubscription(db(), resource_id);
}

async function erase(tx: Tx, { id, name, slug }: { id: string; name: string; slug: string }, now: Date): Promise<string[]> {
  const ctx = systemContext(db(), { tenant_id: id, now, label: 'workspace deletion' });
  const keys = await tx.tenant_master_keys.findMany({
    where: { tenant_id: id },
    orderBy: { version: 'asc' },
    select: { id: true, version: true },
  });
  for (const { id: resource_id, version } of keys)
    await appendCritical(tx, ctx, {
      action: 'byok.kms.revoke',
      resource_type: 'tenant_master_key',
      resource_id,
      details: { version, reason: 'workspace_deleted' },
    });
  const mails = await endSharesOf(tx, { id, name }, now);
  await tx.tenant_master_keys.updateMany({ where: { tenant_id: id }, data: { wrapped_key: null, status: 'revoked', revoked_at: now } });
  await postTeamMails(tx, { tenant_id: id, kind: 'workspace_deleted', letter: workspaceErased({ workspace: name }), now });
  const expires_at = new Date(now.getTime() + SLUG_RESERVED_MS);
  await tx.reserved_slugs.upsert({ where: { slug }, create: { slug, tenant_id: id, expires_at }, update: { tenant_id: id, expires_at } });
  await tx.tenants.update({
    where: { id },
    data: {
      erased_at: now,
      slug: `erased-${id}`,
      name: 'Erased workspace',
      settings: {},
      logo: null,
      country: null,
      address: null,
      city: null,
      postal_code: null,
      tax_id_type: null,
      tax_id_value: null,
      updated_at: now,
    },
    select: { id: true },
  });
  await addJob(tx, 'delete_erased_rows', { tenant_id: id }, { job_key: `delete_erased_rows:${id}` });
  return mails;
}

/**
 * Removes the rows of an erased workspace, in batches and from every table that has a column for it, so that no table can be forgotten. Rows that others refer
 * to go in a later round. Safe to repeat. @returns rows removed
 */
export async function deleteErasedRows(database: Db, tenantId: string): Promise<number> {
  if ((await database.tenants.count({ where: { id: tenantId, erased_at: { not: null } } })) === 0) return 0;
  let removed = 0;
  for (let left = await tablesOf(); left.length > 0; ) {
    const blocked: string[] = [];
    for (const table of left) {
      const result = await emptyTable(table, tenantId);
      removed += result.removed;
      if (result.blocked) blocked.push(table);
    }
    if (blocked.length === left.length) throw new Error(`rows of an erased workspace can't be removed from ${blocked.join(', ')}`);
    left = blocked;
  }
  return removed;
}

/** Partitions are emptied through their table. */
async function tablesOf(): Promise<string[]> {
  const { rows } = await sql().query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($1) order by 1`,
    [KEPT],
  );
  return rows.map(({ name }) => name);
}

async function emptyTable(table: string, tenantId: string): Promise<{ removed: number; blocked: boolean }> {
  for (let removed = 0; ; ) {
    try {
      // The name is the catalogue's own.
      const { rowCount } = await sql().query(
        `delete from "${table}" where (tableoid, ctid) in (select tableoid, ctid from "${table}" where tenant_id = $1 limit ${BATCH})`,
        [tenantId],
      );
      removed += rowCount ?? 0;
      if ((rowCount ?? 0) < BATCH) return { removed, blocked: false };
    } catch (error) {
      if ((error as { code?: unknown }).code !== '23503') throw error; // foreign_key_violation
      return { removed, blocked: true };
    }
  }
}
