import { isOwnNonce, NONCE_MS, newNonce, nonceKeys } from '#server/crypto/acme/nonce.ts';
import { digest } from '#server/crypto/tokens.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { AcmeProblem } from './problem.ts';

/** A nonce for one directory. All processes of the deployment accept it. */
export const freshNonce = (directory: string, now: Date): string => newNonce(nonceKeys(rootKeys()), directory, now);

/**
 * Uses a nonce up: of any number of requests with one nonce exactly one wins, in all processes. Call it after the signature was checked, so that nobody fills
 * the store with requests that are no account's. @throws AcmeProblem badNonce, or the error of a database that is away
 */
export async function useNonce(nonce: string | undefined, directory: string, now: Date): Promise<void> {
  if (nonce === undefined || !isOwnNonce(nonceKeys(rootKeys()), nonce, directory, now)) throw badNonce();
  const { rowCount } = await sql().query({
    name: 'use-acme-nonce',
    text: 'insert into acme_nonces (digest, expires_at) values ($1, $2) on conflict do nothing',
    values: [digest(nonce), new Date(now.getTime() + 2 * NONCE_MS)],
  });
  if (rowCount !== 1) throw badNonce();
}

const badNonce = () =>
  new AcmeProblem('badNonce', 'The nonce is unknown, too old or was used before. Repeat the request with the nonce of this answer.');
