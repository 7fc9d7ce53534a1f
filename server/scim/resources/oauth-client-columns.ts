import type { Columns } from '../filter/sql.ts';

/** Where `oauth_clients c` holds what a filter over OAuth clients may name. */
export const oauthClientColumns: Columns = {
  id: { type: 'uuid', sql: 'c.id' },
  clientId: { type: 'text', sql: 'c.client_id' },
  clientName: { type: 'text', sql: 'c.name' },
  clientType: { type: 'text', sql: 'c.type' },
  grantTypes: listOf('c.grant_types'),
  allowedScopes: listOf('c.allowed_scopes'),
  redirectUris: listOf('c.redirect_uris'),
  requirePkce: { type: 'boolean', sql: 'true' },
  requireDpop: { type: 'boolean', sql: 'c.require_dpop' },
  active: { type: 'boolean', sql: 'c.active' },
  'meta.created': { type: 'time', sql: 'c.created_at' },
  'meta.lastModified': { type: 'time', sql: 'c.updated_at' },
};

function listOf(column: string): Columns[string] {
  return { type: 'list', from: `unnest(${column}) as element`, parts: { value: { type: 'text', sql: 'element' } } };
}
