import { sql } from '#server/platform/sql.ts';
import { pruneSignals } from './signals.ts';

const KEPT_DAYS = 90;

/** Forgets incidents that ended 90 days ago, and events that no window reaches back to. @returns incidents removed */
export async function pruneIncidents(now: Date): Promise<number> {
  await pruneSignals(now);
  const { rowCount } = await sql().query('delete from alert_incidents where resolved_at < $1', [
    new Date(now.getTime() - KEPT_DAYS * 86_400_000),
  ]);
  return rowCount ?? 0;
}
