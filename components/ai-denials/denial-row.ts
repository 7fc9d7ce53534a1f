import type { Entry } from '#components/audit/entry-text.ts';

export type Denial = {
  id: string;
  created_at: string;
  code: string;
  status: number | null;
  plane: string;
  /** The agent or server that was called. */
  target: string | null;
  token_id: string | null;
  token_prefix: string | null;
  gateway_id: string | null;
  agent_id: string | null;
  ip_address: string | null;
  country: string | null;
  count: number;
  request_id: string | null;
};

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** What an entry says of a refused call. */
export function denialOf({ id, created_at, details, resource_id, ip_address, ip_country, request_id }: Entry): Denial {
  return {
    id,
    created_at,
    code: text(details.code) ?? 'refused',
    status: number(details.status),
    plane: text(details.plane) ?? 'ai',
    target: text(details.agent_slug) ?? text(details.mcp_server_slug),
    token_id: resource_id,
    token_prefix: text(details.token_prefix),
    gateway_id: text(details.gateway_id),
    agent_id: text(details.agent_id),
    ip_address,
    country: text(details.country) ?? ip_country,
    count: number(details.count) ?? 1,
    request_id,
  };
}

/** What each code means and what to do, for those that happen by mistake more often than by attack. */
export const ADVICE: Readonly<Record<string, string>> = {
  expired: 'Mint or rotate the token.',
  revoked: 'Somebody still uses a token that was revoked.',
  oneshot_already_used: 'One-shot tokens make one call.',
  bad_env: 'A token of Live was used on Test, or the other way round.',
  bad_prefix: 'Not a capability token. Is a provider’s key still configured?',
  crc_mismatch: 'The token was cut or mistyped.',
  ip_cidr_mismatch: 'The caller’s address is outside the token’s ranges.',
  outside_valid_window: 'The token isn’t valid at this time of day.',
  step_up_required: 'Used from two distant places. Release or rotate it.',
  dpop_missing: 'The token is bound to a key, and the call had no proof of it.',
  capability_hmac_mismatch: 'The token’s row was changed outside of the service. Revoke it.',
  agent_missing: 'A token for tools was used to call a model.',
};
