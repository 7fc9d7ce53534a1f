import type { PlaneMatch } from '../core/hosts.ts';
import { METHODS } from '../core/listener.ts';

// What the web process may be asked, plane by plane (interface rule 01 §1). Everything else is answered here, because the
// framework behind would answer in its own words: redirects for slashes, HTML for unknown paths, text for what it cannot decode.

/** A family of paths with one error shape. */
export type Surface = 'management' | 'oauth' | 'public' | 'hooks' | 'scim' | 'dashboard_api' | 'pages';

export type FrontRefusal = {
  ok: false;
  surface: Surface;
  status: number;
  type: string;
  message: string;
  headers?: Readonly<Record<string, string>>;
};
export type FrontPass = {
  ok: true;
  surface: Surface;
  /** What web is asked: the target with the mount of hooks put back. */
  target: string;
  bodyLimit: number;
};

export type ForwardablePlane = Extract<PlaneMatch, { plane: 'api' | 'admin' | 'tenant' | 'hooks' }>;

/** Judges method and path of a request that is no data-plane call. Pure. */
export function frontDoor(match: ForwardablePlane, method: string, headerBytes: number): FrontPass | FrontRefusal {
  const mark = match.target.indexOf('?');
  const path = mark === -1 ? match.target : match.target.slice(0, mark);
  const query = mark === -1 ? '' : match.target.slice(mark);
  const { surface, served } = surfaceOf(match, path);
  const refuse = (status: number, type: string, message: string, headers?: Record<string, string>): FrontRefusal =>
    headers === undefined ? { ok: false, surface, status, type, message } : { ok: false, surface, status, type, message, headers };

  if (!METHODS.some((known) => known === method))
    return refuse(405, 'method_not_allowed', 'This method is not supported.', { allow: METHODS.join(', ') });
  const fault = pathFault(path);
  if (fault === 'nowhere' || !served) return refuse(404, 'not_found', 'No such path.');
  if (fault === 'slashes') {
    if (surface !== 'pages' || (method !== 'GET' && method !== 'HEAD')) return refuse(404, 'not_found', 'No such path.');
    // Built from its segments, so that the answer can only ever point into this origin.
    return refuse(308, 'moved', 'The page has moved.', { location: `/${path.split('/').filter(Boolean).join('/')}${query}` });
  }
  const allowed = methodsOf(surface, path);
  if (!allowed.some((known) => known === method))
    return refuse(405, 'method_not_allowed', `Method not allowed. This path supports ${allowed.join(', ')}.`, {
      allow: allowed.join(', '),
    });
  if (surface === 'management' && headerBytes > MAX_MANAGEMENT_HEADERS)
    return refuse(431, 'headers_too_large', 'The request headers must not exceed 16 KiB.');
  return {
    ok: true,
    surface,
    target: targetOf(match, method, path),
    bodyLimit: bodyLimit(surface, path),
  };
}

/** What web is asked: hooks get their mount back, and the forms of consent pages go to the session plane, because a page of the framework takes no form. */
function targetOf(match: ForwardablePlane, method: string, path: string): string {
  if (match.plane === 'hooks') return `/hooks${match.target}`;
  return match.plane === 'admin' && method === 'POST' && isConsentPage(path) ? `/auth${match.target}` : match.target;
}

/** The dashboard's part of OAuth: consent to a login, and to that of a device (interface rule 21 §1). */
const isConsentPage = (path: string) => within('/oauth/consent', path) || within('/oauth/device', path);

/** Asked for anything else the framework would send the page as for a GET, or fail. Its own tools, in development, post below these two prefixes. */
function methodsOf(surface: Surface, path: string): readonly string[] {
  if (within('/admin/trpc', path) || within('/auth/trpc', path)) return ['GET', 'HEAD', 'POST', 'OPTIONS'];
  if (surface === 'pages' && isConsentPage(path)) return ['GET', 'HEAD', 'POST'];
  const page = surface === 'pages' && !path.startsWith('/_next/') && !path.startsWith('/__nextjs');
  return page || path === '/openapi.json' ? ['GET', 'HEAD'] : METHODS;
}

/** 01 §2 step 3. */
const MAX_MANAGEMENT_HEADERS = 16 * 1024;

const API_SURFACES: readonly (readonly [string, Surface])[] = [
  ['/v1', 'management'],
  ['/wg', 'management'],
  ['/agent/v1', 'management'],
  // The agent's program, its signature and its install script.
  ['/agent/agent.mjs', 'public'],
  ['/agent/agent.mjs.sig', 'public'],
  ['/agent/install.sh', 'public'],
  ['/oauth', 'oauth'],
  ['/auth/oauth2/callback', 'oauth'],
  ['/.well-known', 'public'],
  ['/openapi.json', 'public'],
  ['/pub', 'public'],
  ['/elements/v1', 'public'],
];
const DASHBOARD_API = ['/admin', '/auth', '/api'];
const NOT_ON_DASHBOARD = [
  '/v1',
  '/wg',
  '/agent',
  '/.well-known',
  '/pub',
  '/elements',
  '/hooks',
  '/oauth',
  '/p',
  '/_capture',
  '/_next/image',
  '/__alive',
  '/__ready',
];

function surfaceOf(match: ForwardablePlane, path: string): { surface: Surface; served: boolean } {
  const isScim = within('/scim', path);
  switch (match.plane) {
    case 'api': {
      const found = API_SURFACES.find(([prefix]) => within(prefix, path));
      return { surface: isScim ? 'scim' : (found?.[1] ?? 'management'), served: found !== undefined && !isConsentPage(path) };
    }
    case 'hooks':
      return { surface: 'hooks', served: path.startsWith('/wf/') || path.startsWith('/in/') };
    case 'tenant': {
      // Only on a host of its own: mounted by its path, a workspace stands on the host of the API, which serves no SCIM.
      if (isScim) return { surface: 'scim', served: match.space === 'live' && match.mount === '' && within('/scim/v2', path) };
      if (path === '/v1/oauth/token') return { surface: 'oauth', served: true };
      return { surface: 'public', served: within('/.well-known', path) };
    }
    case 'admin': {
      if (isScim) return { surface: 'scim', served: within('/scim/v2', path) };
      if (DASHBOARD_API.some((prefix) => within(prefix, path))) return { surface: 'dashboard_api', served: true };
      if (isConsentPage(path)) return { surface: 'pages', served: true };
      return { surface: 'pages', served: !NOT_ON_DASHBOARD.some((prefix) => within(prefix, path)) };
    }
  }
}

const MIB = 1024 * 1024;

/** The largest body any endpoint of a path accepts (01 §9 and the families named); endpoints may want less. */
function bodyLimit(surface: Surface, path: string): number {
  if (surface === 'oauth' || isConsentPage(path)) return 64 * 1024;
  if (surface === 'dashboard_api' && within('/auth', path)) return path === '/auth/avatars' ? 3 * MIB : 256 * 1024;
  const named = WIDER.find(([prefix]) => within(prefix, path));
  return named?.[1] ?? MIB;
}
const WIDER: readonly (readonly [string, number])[] = [
  ['/v1/crypto/keys', 2 * MIB],
  ['/v1/vaults', 4 * MIB],
  ['/v1/migrations', 2 * MIB],
  ['/admin/migrations', 2 * MIB],
  ['/agent/v1/migrations', 2 * MIB],
  ['/agent/v1/commands', 2 * MIB],
];

/**
 * `nowhere`: names nothing that exists, because it can't be decoded, decodes to a control character, or is another path in disguise (encoded
 * slash, backslash, dot segment), which would be one path to us and another to the framework. `slashes`: doubled or trailing ones.
 */
function pathFault(path: string): 'nowhere' | 'slashes' | undefined {
  let decoded = path;
  if (path.includes('%')) {
    try {
      decoded = decodeURIComponent(path);
    } catch {
      return 'nowhere';
    }
    if (/[\x00-\x1f\x7f]/.test(decoded)) return 'nowhere';
    if (/%2f|%5c/i.test(path) && !OCSP_QUESTION.test(path)) return 'nowhere';
  }
  if (decoded.includes('\\') || /(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded)) return 'nowhere';
  return path.includes('//') || (path.length > 1 && path.endsWith('/')) ? 'slashes' : undefined;
}

/** A question of OCSP in base64, whose slashes are escaped (RFC 6960, appendix A.1): the one path whose end is data. */
const OCSP_QUESTION = /^\/pub\/[a-z0-9-]+\/(?:test\/)?pki\/[0-9a-f-]+\/ocsp\/(?:[a-z0-9+/=]|%2b|%2f|%3d)+$/i;

/** By whole segments: `/v1` covers `/v1` and `/v1/x`, not `/v10`. */
function within(prefix: string, path: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
}
