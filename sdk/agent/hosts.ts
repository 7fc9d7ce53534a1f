import type { InterceptRule, Manifest, Route } from './protocol.ts';

// Which calls of this host go another way. Pure.

/** Routes by the host name of their targets. The service's own host is never intercepted. */
export function routesByHost(manifest: Manifest | undefined): Map<string, Route[]> {
  const found = new Map<string, Route[]>();
  const own = manifest && hostName(new URL(manifest.proxy_url).hostname);
  for (const route of manifest?.routes ?? []) {
    const host = hostName(route.host);
    if (host !== own) found.set(host, [...(found.get(host) ?? []), route]);
  }
  // The longest base path first: it is the closest. Of two routes with the same one, the lowest slug, as the service's SDK has it.
  for (const list of found.values()) list.sort((a, b) => b.base_path.length - a.base_path.length || (a.slug < b.slug ? -1 : 1));
  return found;
}

/** The ports that routes are named for. A call to another one means another server. */
export const isSchemePort = (port: number): boolean => port === 443 || port === 80;

/** In lower case, without brackets and trailing dot. */
export const hostName = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');

/**
 * Where a call to a covered host goes at the service, or undefined when no route covers the path. `target` is path and query, kept byte for byte behind the
 * base path.
 */
export function rewritten(covered: readonly Route[], method: string, target: string, proxyUrl: string): string | undefined {
  for (const route of covered) {
    if (route.allowed_methods && !route.allowed_methods.includes(method)) continue;
    if (isRawCardEndpoint(route.host, target)) return undefined;
    const rest = restOf(route.base_path, target);
    if (rest !== undefined) return `${proxyUrl.replace(/\/+$/, '')}/${encodeURIComponent(route.slug)}${rest}`;
  }
  return undefined;
}

/** What follows the base path, by whole segments: `/v1` covers `/v1/x`, `/v1` and `/v1?x`, not `/v10`. */
function restOf(basePath: string, target: string): string | undefined {
  const base = basePath.replace(/\/+$/, '');
  if (!target.startsWith(base)) return undefined;
  const rest = target.slice(base.length);
  return rest === '' || rest.startsWith('/') || rest.startsWith('?') ? rest : undefined;
}

/** Card numbers go to the provider and to nobody else: the service refuses these (interface rule 33 §4.4). */
function isRawCardEndpoint(host: string, target: string): boolean {
  if (hostName(host) !== 'api.stripe.com') return false;
  const path = target
    .replace(/\?.*$/, '')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\/{2,}/g, '/');
  return /^\/v1\/(?:tokens|sources)/i.test(path);
}

/** The rule of a migration that answers a call to a secret store. `content` is path, query and body, which carry the secret's reference. */
export function ruleFor(rules: readonly InterceptRule[], host: string, target: string, content: string): InterceptRule | undefined {
  return rules.find(
    (rule) =>
      rule.match_host.toLowerCase() === host.toLowerCase() &&
      target.startsWith(rule.match_path_prefix) &&
      (!rule.match_secret_ref || content.includes(rule.match_secret_ref)),
  );
}

export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80));

/** Whether the service may have a connection opened through the tunnel: to hosts that the operator of this host listed, or to all when nothing is listed. */
export function tunnelAllows(listed: readonly string[] | undefined, host: string, port: number): boolean {
  const name = hostName(host);
  return listed === undefined || listed.includes(name) || listed.includes(`${name}:${port}`);
}
