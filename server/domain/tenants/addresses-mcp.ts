import type { Space } from '#server/kernel/context.ts';
import { apiUrl, routeUrls } from './addresses.ts';

/** What an address of a workspace's MCP servers names: one of them, or with null all of them. */
export type McpAddress = { slug: string | null };

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Reads a resource indicator (RFC 8707): the URL that clients connect to, however the workspace is addressed, or the one below the API that tokens are bound to
 * (interface rule 52 §1). Scheme and host in any case, no query. Undefined when it names no MCP server of this workspace and space.
 */
export function readMcpAddress(text: string, tenantSlug: string, space: Space): McpAddress | undefined {
  const given = normalized(text);
  if (given === undefined) return undefined;
  for (const base of [...routeUrls(tenantSlug, space).map((url) => `${url}/v1/mcp`), `${apiUrl(space)}/mcp`]) {
    const prefix = normalized(base) ?? '';
    if (given === prefix) return { slug: null };
    const slug = given.startsWith(`${prefix}/`) ? given.slice(prefix.length + 1) : '';
    if (SLUG.test(slug)) return { slug };
  }
  return undefined;
}

/** Whether an address names MCP servers below the API, where it says nothing of the workspace. */
export const isApiMcpResource = (text: string, space: Space): boolean => readMcpAddress(text, NO_WORKSPACE, space) !== undefined;
/** No slug ends so. */
const NO_WORKSPACE = 'none-';

/** The workspace whose own host, or path below a shared one, an address of MCP servers names; null for an address below the API. */
export function mcpWorkspaceSlug(text: string, space: Space): string | null {
  const url = URL.parse(text);
  if (!url) return null;
  const label = /^\/p\/([a-z0-9-]{1,80})\//.exec(url.pathname)?.[1] ?? url.hostname.split('.', 1)[0] ?? '';
  const slug = space === 'test' && label.startsWith('sandbox-') ? label.slice('sandbox-'.length) : label;
  const own = readMcpAddress(text, slug, space);
  return own !== undefined && !isApiMcpResource(text, space) ? slug : null;
}

/** Scheme and host in lower case, the path exactly, no slash at its end. */
function normalized(text: string): string | undefined {
  if (text.length > 2_048 || !/^https?:\/\//i.test(text) || text.includes('?') || text.includes('#')) return undefined;
  const slash = text.indexOf('/', text.indexOf('://') + 3);
  const [origin, path] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash)];
  return `${origin.toLowerCase()}${path.endsWith('/') ? path.slice(0, -1) : path}`;
}

/** The metadata of a server, or of all of them (RFC 9728). The same for everybody. */
export const metadataDocument = (resource: string, issuer: string, name: string): object => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: ['mcp:tools'],
  bearer_methods_supported: ['header'],
  dpop_signing_alg_values_supported: ['ES256', 'EdDSA'],
  resource_name: name,
  tls_client_certificate_bound_access_tokens: false,
});
