import { isLoopbackRedirectUri } from '#server/domain/oauth-clients/redirect-uris.shared.ts';
import type { RedirectPlace } from './view.shared.ts';

export function redirectPlace(uri: string): RedirectPlace {
  const host = redirectHost(uri);
  if (isLoopbackRedirectUri(uri)) return { kind: 'loopback', host };
  return { kind: /^https:/i.test(uri) ? 'web' : 'app', host };
}

/** The host of the address, or its scheme when it has none. What an audit entry says of it: paths may hold what belongs to the application. */
export function redirectHost(uri: string): string {
  const url = URL.parse(uri);
  return url?.host || uri.slice(0, uri.indexOf(':') + 1) || 'unknown';
}

/** The source that Content-Security-Policy must allow, because browsers apply form-action to where a form leads in the end. */
export function formActionSource(uri: string): string {
  const { kind, host } = redirectPlace(uri);
  if (kind === 'app') return uri.slice(0, uri.indexOf(':') + 1).toLowerCase();
  return kind === 'web' ? `https://${host}` : `http://${host}`;
}
