import { classifyCredential } from '#server/crypto/tokens.ts';
import { backingFault } from '#server/custody/backing.ts';
import { env } from '#server/platform/env.ts';
import { log } from '#server/platform/log.ts';
import type { Arrival, Identified } from '../../core/plane.ts';
import { refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import { WRAP_BACKING } from '../../credentials/wrap-tokens.ts';
import type { EphemeralState } from '../ephemeral-call.ts';
import { limited } from '../identify.ts';
import { revokeExposed } from './exposed.ts';

const INVALID = refused('wrap_token_invalid', 'This gateway token is not valid.');
const ELSEWHERE = refused(
  'forbidden',
  "This gateway token can't be used from this IP address: the API key that minted it is limited to others. Add the address to the key's IP allowlist.",
);
const UNDECIDED = refused('dependency_unavailable', "The gateway can't check the token. Try again shortly.");
const IN_CLEAR = refused('forbidden', 'Gateway tokens are only accepted over https. A token that arrived in clear is revoked.');

/**
 * The workspace of a gateway token. Malformed, unknown, revoked and expired ones, and those of the other host, are one answer. What of the request holds the
 * token goes no further: the call gets a target and a host without it.
 */
export async function identifyByToken(arrival: Arrival<EphemeralState>, runtime: Runtime): Promise<Identified> {
  const { match, proto, sourceAddress, state } = arrival;
  const named = read(arrival);
  if (!named || classifyCredential(named.token).kind !== 'gateway_token') return { refusal: limited(runtime, sourceAddress) ?? INVALID };
  try {
    const row = await runtime.wraps.find(named.token);
    if (row === 'busy') return { refusal: UNDECIDED };
    const space = row?.sandbox ? 'test' : 'live';
    const now = Date.now();
    const fault = row === null ? 'ended' : backingFault(row.backing, WRAP_BACKING, { now, ip: sourceAddress });
    const isLive =
      row !== null && row.revoked_at === null && (row.expires_at === null || row.expires_at.getTime() > now) && fault !== 'ended';
    if (proto === 'http' && isServedOverTls(match.plane === 'api' ? match.space : space)) {
      if (row && isLive) await revokeExposed(row, arrival);
      return { refusal: IN_CLEAR };
    }
    if (!row || !isLive || (match.plane === 'api' && match.space !== space)) return { refusal: limited(runtime, sourceAddress) ?? INVALID };
    if (fault === 'address') return { refusal: limited(runtime, sourceAddress) ?? ELSEWHERE };
    state.token = row;
    state.rest = named.rest;
    state.hostSegment = named.host;
    return { tenantId: row.tenant_id, space, target: `/wg/wkt_***/${row.host}`, host: row.host };
  } catch (error) {
    log.debug({ err: error }, 'a gateway token could not be looked up');
    return { refusal: UNDECIDED };
  }
}

/**
 * Whether plain HTTP says anything. On a deployment without TLS it is all there is, and where nobody said who ends TLS (TRUSTED_PROXIES), every call looks
 * plain: revoking tokens for that would end all of them.
 */
const isServedOverTls = (space: 'live' | 'test'): boolean =>
  env.TRUSTED_PROXIES.length > 0 && (space === 'test' ? env.PUBLIC_SANDBOX_API_URL : env.PUBLIC_API_URL).startsWith('https:');

/** Null `host`: the subdomain form, which names none. `rest` is path and query, byte for byte. */
function read({ match }: Arrival): { token: string; host: string | null; rest: string } | undefined {
  if (match.plane === 'wrap') return { token: `wkt_${match.token}`, host: null, rest: match.target };
  if (match.plane !== 'api') return undefined;
  const [, token = '', host = '', rest = ''] = /^\/wg\/([^/?]*)(?:\/([^/?]*)(.*))?$/s.exec(match.target) ?? [];
  return { token, host, rest: rest.startsWith('/') ? rest : `/${rest}` };
}
