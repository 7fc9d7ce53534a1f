import type { Edge } from '#server/api/edge.ts';
import { contextOfToken } from '#server/api/oauth-token.ts';
import { classifyCredential, digest } from '#server/crypto/tokens.ts';
import { capabilitiesOfToken, isLiveToken, tokenRow } from '#server/domain/oauth-grants/access-tokens.ts';
import { issuerOf } from '#server/domain/oauth-grants/addresses.ts';
import { isAllowedFrom } from '#server/domain/oauth-grants/client.ts';
import { apiUrls, ProofRefused, useProof } from '#server/domain/oauth-grants/dpop.ts';
import { type Asking, type Introspection, introspection } from '#server/domain/oauth-grants/introspection.ts';
import { denyingPolicy } from '#server/domain/policies/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { badClient, presentedClient } from './client-authentication.ts';
import { authenticatedClient, failClient } from './client-limits.ts';
import { type Form, required } from './form.ts';
import { OAuthProblem } from './problem.ts';

/** POST /oauth/introspect (RFC 7662), for confidential clients and for access tokens with the scope oauth:introspect. */
export async function introspect(form: Form, headers: Headers, edge: Edge, now: Date): Promise<Introspection> {
  const asking = await askingParty(form, headers, edge, now);
  return introspection(required(form, 'token'), asking, issuerOf(edge.space), now);
}

async function askingParty(form: Form, headers: Headers, edge: Edge, now: Date): Promise<Asking> {
  const authorization = headers.get('authorization');
  const [scheme, text, ...rest] = authorization?.split(' ').filter((part) => part !== '') ?? [];
  const named = scheme?.toLowerCase();
  if (text !== undefined && rest.length === 0 && (named === 'bearer' || named === 'dpop'))
    return bearer(named === 'dpop', text, headers, edge, now);
  const presented = presentedClient(authorization, form);
  if (!presented) throw await failClient(null, edge, now);
  const client = await authenticatedClient(presented, edge, now);
  // Anybody knows the id of a public client.
  if (client.type === 'public') throw badClient(presented.method);
  return client;
}

/** @throws OAuthProblem invalid_token, insufficient_scope (RFC 6750 §3.1), invalid_dpop_proof */
async function bearer(withProof: boolean, text: string, headers: Headers, edge: Edge, now: Date): Promise<Asking> {
  const token = classifyCredential(text).kind === 'oauth_token' ? await tokenRow(digest(text)) : undefined;
  const scheme = withProof ? 'DPoP' : 'Bearer';
  const refuse = (
    error: 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof' | 'use_dpop_nonce',
    status: number,
    message: string,
  ) => new OAuthProblem(error, message, status, { 'www-authenticate': `${scheme} realm="oauth", error="${error}"` });
  if (!isLiveToken(token, now) || token.aud !== null || withProof !== (token.cnf_jkt !== null))
    throw refuse('invalid_token', 401, 'The access token is unknown, expired or revoked, or sent with the wrong scheme.');
  if (token.cnf_jkt !== null)
    await useProof({
      header: headers.get('dpop'),
      method: 'POST',
      urls: apiUrls('/oauth/introspect'),
      now,
      access_token: text,
      jkt: token.cnf_jkt,
      nonce_required: settingsOf(token.settings).dpop_nonce_required,
    }).catch((error: unknown) => {
      throw error instanceof ProofRefused
        ? refuse(error.reason === 'nonce' ? 'use_dpop_nonce' : 'invalid_dpop_proof', 401, error.message)
        : error;
    });
  if (!capabilitiesOfToken(token, now).has('oauth:introspect'))
    throw refuse('insufficient_scope', 403, 'The access token needs the scope oauth:introspect.');
  if (!isAllowedFrom({ ip_allowlist: token.ip_allowlist ?? [] }, edge.ip))
    throw refuse('insufficient_scope', 403, "This token can't be used from this IP address.");
  const policy = await denyingPolicy(contextOfToken(token, edge, now), 'oauth:introspect');
  if (policy) throw refuse('insufficient_scope', 403, 'A policy of the workspace denies oauth:introspect.');
  return token;
}
