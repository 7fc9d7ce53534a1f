import { issuerOf } from '#server/domain/oauth-grants/addresses.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { readMcpAddress } from '#server/domain/tenants/addresses-mcp.ts';
import type { Space } from '#server/kernel/context.ts';
import type { Place } from './mcp-call.ts';

// Addresses of MCP servers (interface rule 52 §1): where clients connect, and what tokens are bound to.

export const MCP_PATH = '/v1/mcp';
const WELL_KNOWN = '/.well-known/oauth-protected-resource';

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** What a path names; undefined when it isn't this plane's. */
export function placeOf(path: string): Place | undefined {
  if (path === MCP_PATH || path === `${MCP_PATH}/`) return { kind: 'aggregate' };
  if (!path.startsWith(`${MCP_PATH}/`)) return undefined;
  const slug = path.slice(MCP_PATH.length + 1);
  return SLUG.test(slug) ? { kind: 'server', slug } : { kind: 'nothing' };
}

/** The place that a metadata document is about; undefined for another path. */
export const documentOf = (path: string): Place | undefined =>
  path.startsWith(WELL_KNOWN) ? placeOf(path.slice(WELL_KNOWN.length)) : undefined;

const suffix = (place: Place): string => (place.kind === 'server' ? `/${place.slug}` : '');

/** Where a client points. */
export const connectUrl = (tenantSlug: string, space: Space, place: Place): string =>
  `${proxyUrl(tenantSlug, space)}${MCP_PATH}${suffix(place)}`;

/** Where the metadata of a place is found, on the host that its clients call. An unknown place has none: those of the aggregate say where to sign in. */
export const metadataUrl = (tenantSlug: string, space: Space, place: Place): string =>
  `${proxyUrl(tenantSlug, space)}${WELL_KNOWN}${MCP_PATH}${suffix(place)}`;

/** The same on the API host. */
export const apiMetadataUrl = (space: Space, place: Place): string => `${issuerOf(space)}${WELL_KNOWN}${MCP_PATH}${suffix(place)}`;

/** Whether a resource names this place: by its connect URL, however the workspace is addressed, or by its resource URL. */
export function isResource(text: string, tenantSlug: string, space: Space, place: Place): boolean {
  const named = readMcpAddress(text, tenantSlug, space);
  return named !== undefined && (place.kind === 'server' ? named.slug === place.slug : place.kind === 'aggregate' && named.slug === null);
}
