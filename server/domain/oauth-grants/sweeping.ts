import { sql } from '#server/platform/sql.ts';

const BATCH = 5_000;

/**
 * What is swept, and when. Refresh tokens stay with their family, also the consumed ones: presenting one is how a theft is noticed. Codes and device
 * codes stay for a day after their end for the same reason. Families that ended stay for 30 days, for whoever looks into why.
 */
const SWEPT: Readonly<Record<string, string>> = {
  oauth_access: "expires_at < $1::timestamptz - interval '1 hour'",
  oauth_auth_requests: "expires_at < $1::timestamptz - interval '1 hour'",
  oauth_codes: "expires_at < $1::timestamptz - interval '1 day'",
  oauth_device_codes: "expires_at < $1::timestamptz - interval '1 day'",
  oauth_families: "least(expires_at, revoked_at) < $1::timestamptz - interval '30 days'",
  oauth_consents: 'expires_at < $1::timestamptz',
  oauth_assertion_uses: 'expires_at < $1::timestamptz',
  dpop_jti: 'expires_at < $1::timestamptz',
};

/** Deletes rows of the authorization server that are over, in small statements. @returns how many of each table */
export async function sweepOAuth(now: Date, signal?: AbortSignal): Promise<Record<string, number>> {
  const swept: Record<string, number> = {};
  for (const [table, over] of Object.entries(SWEPT)) {
    for (let count = BATCH; count === BATCH && !signal?.aborted; ) {
      const { rowCount } = await sql().query(
        `delete from ${table} where ctid = any (array(select ctid from ${table} where ${over} limit ${BATCH}))`,
        [now],
      );
      count = rowCount ?? 0;
      if (count > 0) swept[table] = (swept[table] ?? 0) + count;
    }
  }
  return swept;
}
