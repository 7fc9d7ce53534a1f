import type { InterceptRule, Manifest, Route } from './protocol.ts';

// Which calls of this host go another way. Pure.

export type Covered = { route: Route; base: URL };

/** Routes by `host:port` of their targets. A target with a variable in its host name can't be recognised and is left out. */
export function routesByHost(manifest: Manifest | undefined): Map<string, Covered[]> {
  const found = new Map<string, Covered[]>();
  const own = manifest && originOf(manifest.proxy_url)?.host;
  for (const route of manifest?.routes ?? []) {
    const base = originOf(route.target_base_url);
    if (!base || base.host === own) continue;
    const key = authority(base.hostname, portOf(base));
    found.set(key, [...(found.get(key) ?? []), { route, base }]);
  }
  // The longest base path first: it is the closest.
  for (const list of found.values()) list.sort((a, b) => b.base.pathname.length - a.base.pathname.length);
  return found;
}

export const authority = (host: string, port: number) => `${host.toLowerCase()}:${port}`;

/**
 * Where a call to a covered host goes at the service, or undefined when no route covers the path. `target` is path and query, kept byte for byte behind the
 * base path.
 */
export function rewritten(
  covered: readonly Covered[],
  method: string,
  target: string,
  proxyUrl: string,
): { route: Route; url: string } | undefined {
  for (const { route, base } of covered) {
    if (route.allowed_methods?.length && !route.allowed_methods.includes(method)) continue;
    const rest = restOf(base.pathname, target);
    if (rest !== undefined) return { route, url: `${proxyUrl.replace(/\/+$/, '')}/${encodeURIComponent(route.slug)}${rest}` };
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

/** The rule of a migration that answers a call to a secret store. `content` is path, query and body, which carry the secret's reference. */
export function ruleFor(rules: readonly InterceptRule[], host: string, target: string, content: string): InterceptRule | undefined {
  return rules.find(
    (rule) =>
      rule.match_host.toLowerCase() === host.toLowerCase() &&
      target.startsWith(rule.match_path_prefix) &&
      (!rule.match_secret_ref || content.includes(rule.match_secret_ref)),
  );
}

function originOf(url: string): URL | undefined {
  if (url.includes('{{')) return undefined;
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

export const portOf = (url: URL) => Number(url.port || (url.protocol === 'https:' ? 443 : 80));
