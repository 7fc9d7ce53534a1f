import type { OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { OAuthProblem } from './problem.ts';

/** The key of the DPoP proof of a request to this path; null when none was sent and none is needed. @throws OAuthProblem invalid_dpop_proof */
export async function verifiedProof(
  headers: Headers,
  _path: string,
  client: OAuthClient | null,
  _now: Date,
): Promise<{ jkt: string } | null> {
  if (headers.has('dpop'))
    throw new OAuthProblem('invalid_dpop_proof', 'This server does not accept DPoP proofs yet. Leave the header out.');
  if (client?.require_dpop) throw new OAuthProblem('invalid_dpop_proof', 'This client requires a DPoP proof. Send one in the DPoP header.');
  return null;
}
