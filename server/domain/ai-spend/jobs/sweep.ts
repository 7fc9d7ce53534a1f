import { log } from '#server/platform/log.ts';
import { ownSql, sql } from '#server/platform/sql.ts';

const BATCH = 500;

/** Frees what calls of dead processes have reserved: a reservation outlives no call (interface rule 51 §9.4). @returns reservations freed */
export async function sweepReservations(now: Date): Promise<number> {
  const { rows } = await sql().query<{ tenant_id: string; sandbox: boolean; ids: string[] }>(
    `select tenant_id, sandbox, array_agg(id) as ids from (select id, tenant_id, sandbox from ai_reservations where expires_at < $1 order by expires_at limit ${BATCH}) e
      group by tenant_id, sandbox`,
    [now],
  );
  let freed = 0;
  for (const { tenant_id, sandbox, ids } of rows) {
    await ownSql().query({
      name: 'ai-settle',
      text: 'select ai_settle($1, $2, $3, $4, $5, $6) as due',
      values: [tenant_id, sandbox, '[]', '[]', '[]', JSON.stringify(ids)],
    });
    freed += ids.length;
  }
  if (freed > 0) log.warn({ freed }, 'freed reservations of AI calls that never ended: their process was killed');
  return freed;
}
