import { digest } from '#server/crypto/tokens.ts';
import { sql } from '#server/platform/sql.ts';

// Nonces of signed calls, which all gateways share. Loads no Prisma.

/**
 * Uses a nonce up; false when it was used before. Of any number of calls that bring one nonce at once exactly one hears true. Call it only after the
 * signature was found good. Rejects when the database is away: nothing is accepted without it.
 */
export async function useNonce(credentialId: string, nonce: string, expiresAt: Date, now: Date): Promise<boolean> {
  const { rowCount } = await sql().query({
    name: 'use-signature-nonce',
    // A row that is past its time waits for the sweep only.
    text: `insert into signature_nonces as seen (credential_id, nonce_digest, expires_at) values ($1, $2, $3)
      on conflict (credential_id, nonce_digest) do update set expires_at = excluded.expires_at where seen.expires_at <= $4`,
    values: [credentialId, digest(nonce), expiresAt, now],
  });
  return rowCount === 1;
}

const BATCH = 5_000;

/** Deletes nonces whose calls would be refused by their timestamps, in small statements. */
export async function sweepNonces(now: Date, signal?: AbortSignal): Promise<{ signature_nonces: number }> {
  let swept = 0;
  for (let count = BATCH; count === BATCH && !signal?.aborted; ) {
    const { rowCount } = await sql().query(
      `delete from signature_nonces where ctid = any (array(select ctid from signature_nonces where expires_at < $1 limit ${BATCH}))`,
      [now],
    );
    count = rowCount ?? 0;
    swept += count;
  }
  return { signature_nonces: swept };
}
