import { sql } from '#server/platform/sql.ts';

/** Removes what says that an identity token was exchanged, a day after that token ended. @returns how many */
export const pruneClaims = async (now: Date): Promise<number> =>
  (await sql().query('delete from ai_exchange_claims where expires_at < $1', [now])).rowCount ?? 0;
