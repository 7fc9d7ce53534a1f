import type { Db } from '#server/kernel/database.ts';
import { type AuditRow, INBOX_ENTRIES, noticeOfEntry } from './audit-notices.ts';
import { writeNotices } from './writing.ts';

const BATCH = 500;

/**
 * Makes notifications of new audit entries of all workspaces. The position moves in the transaction that writes them, and never past a transaction that
 * is still open: what it commits later has a lower number. @returns whether there may be more
 */
export function readAuditEntries(db: Db, now: Date): Promise<boolean> {
  return db.$transaction(
    async (tx) => {
      const [feed] = await tx.$queryRaw<{ position: bigint }[]>`
        select position from notification_feed where name = 'audit' for update skip locked`;
      if (!feed) return false; // another worker reads
      const [settled] = await tx.$queryRaw<{ upto: bigint | null; n: number }[]>`
        select max(seq) as upto, count(*)::int as n from (
          select seq from audit_logs where seq > ${feed.position} and txid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
            and seq < coalesce((select min(seq) from audit_logs where seq > ${feed.position} and txid >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint), 9223372036854775807)
          order by seq limit ${BATCH}) s`;
      if (!settled?.upto) return false;
      const rows = await tx.$queryRaw<AuditRow[]>`
        select a.id, a.seq, a.tenant_id, a.sandbox, a.action, a.resource_type, a.resource_id, a.details, a.ip_address, a.actor_type, a.actor_id, a.actor_label,
          a.created_at, case when a.resource_type = 'member' then a.resource_id end as member_id, s.created_by as creator_id
        from audit_logs a
          left join secrets s on a.action = 'plaintext.reveal' and a.resource_type = 'secret' and s.id::text = a.resource_id and s.tenant_id = a.tenant_id
        where a.seq > ${feed.position} and a.seq <= ${settled.upto} and a.resource_type || '.' || a.action = any(${INBOX_ENTRIES}::text[])
        order by a.seq`;
      await writeNotices(
        tx,
        rows.flatMap((row) => noticeOfEntry(row) ?? []),
        now,
      );
      await tx.$executeRaw`update notification_feed set position = ${settled.upto} where name = 'audit'`;
      return settled.n === BATCH;
    },
    { timeout: 30_000 },
  );
}
