import type { OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { apiUrls, ProofRefused, useProof } from '#server/domain/oauth-grants/dpop.ts';
import { OAuthProblem } from './problem.ts';

/**
 * The key of the DPoP proof of a request to this path, which is used up; null when none was sent and the client needs none (RFC 9449 §5).
 * @throws OAuthProblem invalid_dpop_proof, use_dpop_nonce
 */
export async function verifiedProof(
  headers: Headers,
  path: string,
  client: OAuthClient | null,
  now: Date,
): Promise<{ jkt: string } | null> {
  const header = headers.get('dpop');
  if (header === null) {
    if (client?.require_dpop)
      throw new OAuthProblem('invalid_dpop_proof', 'This client requires a DPoP proof. Send one in the DPoP header.');
    return null;
  }
  try {
    return await useProof({ header, method: 'POST', urls: apiUrls(path), now, nonce_required: client?.dpop_nonce_required ?? false });
  } catch (error) {
    if (!(error instanceof ProofRefused)) throw error;
    throw new OAuthProblem(error.reason === 'nonce' ? 'use_dpop_nonce' : 'invalid_dpop_proof', error.message);
  }
}
