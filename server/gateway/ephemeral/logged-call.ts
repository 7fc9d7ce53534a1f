import type { LogSubject } from '../core/log/logged-plane.ts';
import type { EphemeralCall } from './ephemeral-call.ts';

/** The row of a call: the upstream's path as the caller gave it, and of its query the names alone (interface rule 33 §5.3). */
export function loggedCall({ state }: EphemeralCall, mode: 'ephemeral' | 'wrap_gateway'): LogSubject {
  const { url, environmentName, credentialMode, secret, scanned } = state;
  const tokens = new Set(scanned?.expressions.flatMap((one) => (one.kind === 'token' ? [one.token] : [])));
  return {
    mode,
    route: null,
    routeless: url !== null,
    environment: environmentName,
    path: url?.path ?? '',
    query: url === null ? null : starred(url.query, mode === 'ephemeral' ? state.calledQuery : null),
    proxied: { credential_mode: credentialMode, mode: state.mode, secret_id: secret?.id ?? null, token_count: tokens.size },
  };
}

function starred(...queries: (string | null)[]): string | null {
  const given = queries.filter((query): query is string => query !== null && query !== '');
  if (given.length === 0) return null;
  const pairs = given.join('&').split('&');
  return pairs.map((pair) => (pair.includes('=') ? `${pair.slice(0, pair.indexOf('='))}=*` : '*')).join('&');
}
