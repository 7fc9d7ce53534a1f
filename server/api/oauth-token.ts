import { type AccessToken, capabilitiesOfToken, currentScopes, labelOf } from '#server/domain/oauth-grants/access-tokens.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { refusalOfKey } from './api-key.ts';
import type { Edge } from './edge.ts';

/** As for keys; the source addresses of a key bind the tokens that were minted from it. */
export const refusalOfToken = (token: AccessToken, edge: Edge) =>
  refusalOfKey({ ...token, ip_allowlist: token.ip_allowlist ?? [] }, edge, 'token');

/** The context of a call with this token, but for the Prisma client. */
export const contextOfToken = (token: AccessToken, edge: Edge, now: Date): HotCtx => ({
  tenant_id: token.tenant_id,
  sandbox: token.sandbox,
  plan: token.subscription_plan,
  actor: {
    type: 'oauth_token',
    id: token.client_row_id,
    client_id: token.client_id,
    token_id: token.id,
    user_id: token.user_id,
    person: token.role === null ? null : { email: token.email ?? '', role: token.role },
    source_key: token.key_row_id === null ? null : { id: token.key_row_id, role_ids: token.role_ids ?? [] },
    family_id: token.family_id,
    scopes: currentScopes(token, now),
    step_up_at: token.step_up_at,
    login_at: token.family_created_at,
    label: labelOf(token),
    capabilities: capabilitiesOfToken(token, now),
  },
  request_id: edge.request_id,
  ip: edge.ip,
  user_agent: edge.user_agent,
  now,
  warnings: [],
});

/** Tokens of a key count against the key's own limit; others have none (interface rule 01 §8). */
export const limitOfToken = ({ key_row_id, rate_limit_requests, rate_limit_window_sec }: AccessToken) =>
  key_row_id === null || rate_limit_requests === null
    ? null
    : { id: key_row_id, requests: rate_limit_requests, window_sec: rate_limit_window_sec ?? 60 };
