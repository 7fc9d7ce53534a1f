import type { Space } from '#server/kernel/context.ts';
import { env } from '#server/platform/env.ts';

/** Host label of a workspace in a space (interface rule 12 §2). */
export const hostLabel = (slug: string, space: Space) => (space === 'test' ? `sandbox-${slug}` : slug);

/**
 * The address callers use for routes, {proxy_url}: a host of its own, or a path on a plain port where names cannot be had
 * (interface rule 12 §2, path mode). Built from configuration, never from a Host header.
 */
export function proxyUrl(slug: string, space: Space): string {
  const label = hostLabel(slug, space);
  if (env.PROXY_PATH_MODE) return `http://localhost:${env.PLANE_PORTS?.proxy ?? env.PORT}/p/${label}`;
  return `https://${label}.${env.PROXY_BASE_HOST}`;
}

/** Every public URL under which routes of a workspace are reached: what a DPoP proof may name (RFC 9449 §4.3). */
export function routeUrls(slug: string, space: Space): string[] {
  const label = hostLabel(slug, space);
  const hosted = `https://${label}.${env.PROXY_BASE_HOST}`;
  if (!env.PROXY_PATH_MODE) return [hosted];
  const port = env.PLANE_PORTS?.proxy ?? env.PORT;
  return [
    proxyUrl(slug, space),
    hosted,
    `http://${label}.${env.PROXY_BASE_HOST}:${port}`,
    ...[env.PUBLIC_API_URL, env.PUBLIC_SANDBOX_API_URL].map((origin) => `${origin}/p/${label}`),
  ];
}

/** {base_url} of a space. */
export const apiUrl = (space: Space) => `${space === 'test' ? env.PUBLIC_SANDBOX_API_URL : env.PUBLIC_API_URL}/v1`;
