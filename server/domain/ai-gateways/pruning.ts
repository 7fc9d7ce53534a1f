import { sql } from '#server/platform/sql.ts';

const KEPT_DAYS = 90;
const BATCH = 5_000;

/** Removes tokens 90 days after they expired; the audit log keeps what they were. @returns how many */
export const pruneTokens = (now: Date): Promise<number> =>
  deleted(
    'delete from ai_tokens where id in (select id from ai_tokens where expires_at < $1 limit $2)',
    new Date(now.getTime() - KEPT_DAYS * 86_400_000),
  );

/** Removes cached answers and notes of stored objects whose time is over. @returns how many */
export async function pruneAnswers(now: Date): Promise<number> {
  const cached = await deleted(
    'delete from ai_cache_entries where id in (select id from ai_cache_entries where expires_at < $1 limit $2)',
    now,
  );
  const noted = await deleted(
    'delete from ai_stored_objects where ctid = any(array(select ctid from ai_stored_objects where expires_at < $1 limit $2))',
    now,
  );
  // Of routes that nobody called since.
  await deleted(
    'delete from ai_circuits where ctid = any(array(select ctid from ai_circuits where open_until < $1 limit $2))',
    new Date(now.getTime() - 86_400_000),
  );
  return cached + noted;
}

async function deleted(statement: string, before: Date): Promise<number> {
  for (let removed = 0; ; ) {
    const { rowCount } = await sql().query(statement, [before, BATCH]);
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return removed;
  }
}
