import { DPOP_ALGORITHMS } from '#server/crypto/dpop.ts';
import { digest } from '#server/crypto/tokens.ts';
import { type AccessToken, isLiveToken, tokenRow } from '#server/domain/oauth-grants/access-tokens.ts';
import { ProofRefused, useProof } from '#server/domain/oauth-grants/dpop.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { stampCaller } from '../api-key.ts';
import { contextOfToken, limitOfToken, refusalOfToken } from '../oauth-token.ts';
import type { Recognised } from './api-key.ts';
import type { CredentialReader } from './credential-reader.ts';
import type { V1Request } from './presented.ts';

/** OAuth access tokens (interface rule 21 §2). No cache: revocation works on the next request. @throws Refusal invalid_dpop_proof and those of keys */
export const oauthTokens: CredentialReader<Recognised, V1Request> = {
  kinds: ['oauth_token'],
  read: async (text, request) => {
    const now = new Date();
    const token = await tokenRow(digest(text));
    // A token for an MCP server is worth nothing here, and not told apart from one that doesn't exist (interface rule 21 §12).
    if (!isLiveToken(token, now) || token.aud !== null) return null;
    if (!(await isPresentedRightly(token, text, request, now))) return null;
    const refused = refusalOfToken(token, request.edge);
    if (refused) throw refused.refusal;
    const ctx = contextOfToken(token, request.edge, now);
    stampCaller(ctx);
    return { ctx, limit: limitOfToken(token), legacy_key: false, legacy_key_auth: 'enabled' };
  },
};

/** The table of interface rule 21 §9: a bound token comes with scheme DPoP and a proof, any other as Bearer. @throws Refusal invalid_dpop_proof */
async function isPresentedRightly(token: AccessToken, text: string, request: V1Request, now: Date): Promise<boolean> {
  const { cnf_jkt: jkt } = token;
  const { scheme, method, urls, proof: header } = request;
  if (jkt === null) return scheme !== 'dpop';
  if (scheme !== 'dpop')
    throw dpopRefusal('invalid_token', 'This access token is bound to a key. Send it as "Authorization: DPoP ...", with a proof in DPoP.');
  const nonce_required = settingsOf(token.settings).dpop_nonce_required;
  await useProof({ header, method, urls, now, access_token: text, jkt, nonce_required }).catch((error: unknown) => {
    if (!(error instanceof ProofRefused)) throw error;
    throw dpopRefusal(CHALLENGES[error.reason as keyof typeof CHALLENGES] ?? 'invalid_dpop_proof', error.message);
  });
  return true;
}

/** RFC 9449 §7.1 and §9. */
const CHALLENGES = { missing: 'invalid_token', nonce: 'use_dpop_nonce' } as const;

const dpopRefusal = (error: 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce', message: string) =>
  new Refusal('invalid_dpop_proof', message, {
    headers: { 'www-authenticate': `DPoP error="${error}", algs="${DPOP_ALGORITHMS.join(' ')}"` },
  });
