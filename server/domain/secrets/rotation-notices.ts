import { raise } from '#server/domain/events/service.ts';
import { db } from '#server/platform/db.ts';

type Due = { id: string; tenant_id: string; sandbox: boolean; name: string; secret_type: string; due_at: Date };
const BATCH = 500;

/**
 * Raises `secret.rotation_due` for every secret whose oldest current value is older than its reminder says (interface rule 30 §8): once for each due date, so
 * that a new value or another reminder begins anew. @returns secrets that became due
 */
export async function noticeRotations(now: Date): Promise<number> {
  for (let told = 0; ; ) {
    const due = await db().$transaction(async (tx) => {
      const rows = await tx.$queryRaw<Due[]>`
        with due as (
          select s.id, min(v.created_at) + s.rotate_every_days * interval '1 day' as due_at
          from secrets s join tenants t on t.id = s.tenant_id and t.deleted_at is null
            join secret_environments e on e.secret_id = s.id join secret_values v on v.id = e.current_value_id
          where s.rotate_every_days is not null group by s.id)
        update secrets s set rotation_told_for = d.due_at from (
          select due.* from due join secrets l on l.id = due.id
          where due.due_at <= ${now} and l.rotation_told_for is distinct from due.due_at::timestamptz(3)
          order by due.id limit ${BATCH} for update of l skip locked) d
        where s.id = d.id returning s.id::text, s.tenant_id::text, s.sandbox, s.name, s.secret_type, s.rotation_told_for as due_at`;
      for (const { id, tenant_id, sandbox, name, secret_type, due_at } of rows)
        await raise(tx, { tenant_id, sandbox, now }, [
          { type: 'secret.rotation_due', source_id: id, data: { id, name, secret_type, rotation_due_at: due_at.toISOString() } },
        ]);
      return rows.length;
    });
    told += due;
    if (due < BATCH) return told;
  }
}
