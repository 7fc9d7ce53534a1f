import {
  dpopNonce,
  nonceKeys,
  PROOF_KEPT_MS,
  type Proof,
  type ProofExpected,
  ProofRefused,
  verifyProof as verify,
} from '#server/crypto/dpop.ts';
import { digest } from '#server/crypto/tokens.ts';
import { env } from '#server/platform/env.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';

// Proofs of possession as the token endpoint, /v1 and the gateway accept them. Loads no Prisma.

export { ProofRefused } from '#server/crypto/dpop.ts';

type Asked = Omit<ProofExpected, 'nonce_keys'>;

/** The key of a proof that holds and was not used before, which it is now. @throws ProofRefused, or the error of a database that is away: never accepted without it */
export async function useProof(asked: Asked): Promise<{ jkt: string }> {
  const { jkt, jti } = await verifyProof(asked);
  await rememberProof(jkt, jti, asked.now);
  return { jkt };
}

/** Judges a proof by itself: signature, method, URL, time, token, key and nonce. @throws ProofRefused */
export const verifyProof = (asked: Asked): Promise<Proof> => verify({ ...asked, nonce_keys: nonceKeys(rootKeys()) });

/**
 * Uses a proof up. All processes share the store, and of any number that present one proof at once exactly one wins. Call it last, so that a proof
 * which is refused for another reason isn't used up. @throws ProofRefused replay
 */
export async function rememberProof(jkt: string, jti: string, now: Date): Promise<void> {
  const { rowCount } = await sql().query({
    name: 'use-dpop-proof',
    // A row that is past its time waits for the sweep only.
    text: `insert into dpop_jti as seen (jkt, jti_digest, expires_at) values ($1, $2, $3)
      on conflict (jkt, jti_digest) do update set expires_at = excluded.expires_at where seen.expires_at <= $4`,
    values: [jkt, digest(jti), new Date(now.getTime() + PROOF_KEPT_MS), now],
  });
  if (rowCount !== 1) throw new ProofRefused('replay', 'The DPoP proof was used before. Every request needs a new one.');
}

/** The value of DPoP-Nonce on answers to requests that carry a proof. */
export const freshNonce = (now: Date): string => dpopNonce(nonceKeys(rootKeys()), now);

/** The public URLs of a path of the API hosts, Live and Test (interface rule 21 §9). The Host header has no say. */
export const apiUrls = (path: string): [string, string] => [`${env.PUBLIC_API_URL}${path}`, `${env.PUBLIC_SANDBOX_API_URL}${path}`];
