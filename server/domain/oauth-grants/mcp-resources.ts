import { type McpAddress, readMcpAddress } from '#server/domain/tenants/addresses-mcp.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import type { OAuthClient } from './client.ts';

// MCP servers as the audience of access tokens (interface rule 21 §12): such a token is good at its server and nowhere else.

type Client = Pick<OAuthClient, 'tenant_id' | 'sandbox' | 'tenant_slug'>;

const addressFor = (resource: string, { sandbox, tenant_slug }: Client): McpAddress | undefined =>
  readMcpAddress(resource, tenant_slug, spaceOf(sandbox));

/** Whether a resource names an MCP server of the client's workspace and space, or all of them. */
export async function isMcpResource(resource: string, client: Client): Promise<boolean> {
  const address = addressFor(resource, client);
  if (!address) return false;
  return address.slug === null || (await ownRows(client, SERVER, address.slug)).length > 0;
}

/** Whether two resources name the same MCP server; null, and any other address, is the Management API. */
export function isSameResource(granted: string | null, asked: string, client: Client): boolean {
  const [one, other] = [granted === null ? undefined : addressFor(granted, client), addressFor(asked, client)];
  return (one === undefined) === (other === undefined) && one?.slug === other?.slug;
}

const SERVER = ownQuery(
  'oauth-mcp-server',
  `select id from mcp_servers where tenant_id = $1 and sandbox = $2 and slug = $3 and status <> 'archived'`,
);
