import { type AccessToken, capabilitiesOfToken, labelOf } from '#server/domain/oauth-grants/access-tokens.ts';
import { compileRanges } from '#server/kernel/address.ts';
import type { Caller } from '../snapshot/model.ts';

const compiled = new WeakMap<AccessToken, Caller>();

/** A token as calls see it. Worked out once for as long as its row is remembered, which is a second. */
export function callerOf(token: AccessToken): Caller {
  const known = compiled.get(token);
  if (known) return known;
  const caller = compile(token);
  compiled.set(token, caller);
  return caller;
}

function compile(token: AccessToken): Caller {
  const { client_row_id, client_id, user_id, role, key_row_id, role_ids, ip_allowlist } = token;
  const ends = [token.expires_at, token.key_expires_at, token.key_revoke_at].map((at) => at?.getTime() ?? Infinity);
  const capabilities = capabilitiesOfToken(token, new Date());
  return {
    id: key_row_id ?? (user_id === null ? client_row_id : `${client_row_id}:${user_id}`),
    kind: 'oauth_client',
    ref: client_row_id,
    label: labelOf(token),
    digest: token.digest,
    mayInvoke: capabilities.has('proxy:invoke'),
    mayDetokenize: user_id === null && capabilities.has('vault:detokenize'),
    allows: ip_allowlist && ip_allowlist.length > 0 ? compileRanges(ip_allowlist) : null,
    routes: null,
    endsAt: Math.min(...ends),
    subjects: [
      {
        oauth_client_id: client_row_id,
        user_id,
        ...(role === null ? {} : { role }),
        ...(key_row_id === null ? {} : { api_key_id: key_row_id, key_role_ids: role_ids ?? [] }),
      },
    ],
    used: key_row_id === null ? [client_row_id] : [client_row_id, key_row_id],
    apiKeyId: key_row_id,
    oauthClientId: client_id,
    userId: user_id,
    email: token.email,
  };
}
