import type { Capability, MemberRole } from './role-matrix.ts';

/** The register of OAuth scopes (interface rule 24 §4, §5). Data, not code: token endpoints, consent pages and matrices read it. Isomorphic. */
export type Scope = {
  capabilities: readonly Capability[];
  /** Who may carry it: any person whose role has the capabilities, only Owners and Admins, no person's token ever, or only machines because no role has it. */
  people: 'role' | 'admin' | 'never' | 'machine';
  /** Whether a client that SCIM provisions may be allowed it (interface rule 23 §7). */
  scim: boolean;
  /** Shown when somebody is asked for consent: what the application will be able to do. */
  title: string;
  sentence: string;
  risk: 'low' | 'medium' | 'high';
  /** Suggested to ask for a second factor at consent (interface rule 21 §11). */
  step_up?: true;
};

const row = (
  capabilities: string,
  people: Scope['people'],
  scim: boolean,
  risk: Scope['risk'],
  title: string,
  sentence: string,
  step_up?: true,
): Scope => ({
  capabilities: capabilities === '' ? [] : (capabilities.split(' ') as Capability[]),
  people,
  scim,
  title,
  sentence,
  risk,
  ...(step_up ? { step_up } : {}),
});

/** scope -> what it means, sorted as `scopes_supported` lists them. */
export const SCOPE_CATALOGUE: Readonly<Record<string, Scope>> = {
  'account:read': row('account:read', 'role', true, 'low', 'View the workspace', 'See the name, plan and usage of the workspace.'),
  'account:write': row('account:update', 'admin', false, 'medium', 'Rename the workspace', 'Change the name of the workspace.'),
  'agents:read': row('agent:list agent:read', 'role', true, 'low', 'View agents', 'See agents and their status.'),
  'agents:write': row(
    'agent:create agent:update agent:revoke',
    'role',
    true,
    'high',
    'Manage agents',
    'Create, change and revoke agents. Never in server mode.',
    true,
  ),
  'ai_gateway:create': row('ai_gateway:create', 'role', true, 'medium', 'Create AI gateways', 'Create AI gateways and agents.'),
  'ai_gateway:delete': row('ai_gateway:delete', 'role', true, 'high', 'Delete AI gateways', 'Delete AI gateways and agents.'),
  'ai_gateway:mint': row(
    'ai_gateway:mint',
    'admin',
    false,
    'high',
    'Mint AI tokens',
    'Issue tokens that call AI models through the gateway.',
  ),
  'ai_gateway:read': row(
    'ai_gateway:list ai_gateway:read',
    'role',
    true,
    'low',
    'View AI gateways',
    'See AI gateways, agents and policies.',
  ),
  'ai_gateway:read_usage': row('ai_gateway:read_usage', 'role', true, 'low', 'View AI usage', 'See AI spend and token counts.'),
  'ai_gateway:update': row(
    'ai_gateway:update',
    'role',
    true,
    'high',
    'Change AI gateways',
    'Change AI gateways, limits and privacy policies.',
  ),
  'api_keys:read': row(
    'api_key:list api_key:read',
    'role',
    true,
    'low',
    'View API keys',
    'See API keys and their roles, never their text.',
  ),
  'api_keys:write': row(
    'api_key:create api_key:update api_key:revoke',
    'role',
    false,
    'high',
    'Manage API keys',
    'Create, change and revoke API keys with at most its own rights.',
    true,
  ),
  'audit_logs:read': row(
    'audit_log:list',
    'role',
    true,
    'medium',
    'View the audit log',
    'See who changed what, without sensitive details.',
  ),
  'clients:read': row('client:read', 'role', true, 'low', 'View clients', 'See clients and the routes they can call.'),
  'clients:write': row(
    'client:create client:update client:delete',
    'role',
    true,
    'medium',
    'Manage clients',
    'Create, change and delete clients.',
  ),
  'collections:read': row(
    'collection:list collection:read',
    'role',
    true,
    'low',
    'View collections',
    'See collections and their variables.',
  ),
  'collections:write': row(
    'collection:create collection:update collection:delete',
    'role',
    true,
    'medium',
    'Manage collections',
    'Create, change and delete collections.',
  ),
  'dyn_db:read': row('dyn_db_cred:read', 'role', true, 'low', 'View database connections', 'See database connections and roles.'),
  'dyn_db:write': row(
    'dyn_db_cred:create dyn_db_cred:update dyn_db_cred:delete dyn_db_cred:manage_roles dyn_db_cred:revoke',
    'role',
    true,
    'high',
    'Manage database connections',
    'Create, change and delete database connections and roles, and revoke credentials.',
  ),
  'dyn_db_cred:mint': row(
    'dyn_db_cred:mint',
    'never',
    false,
    'high',
    'Mint database credentials',
    'Create database users and read their passwords.',
  ),
  'environments:read': row('environment:list environment:read', 'role', true, 'low', 'View environments', 'See environments.'),
  'environments:write': row(
    'environment:create environment:update environment:delete',
    'role',
    true,
    'medium',
    'Manage environments',
    'Create, change and delete environments.',
  ),
  'logs:identity': row('log:read_identity', 'role', false, 'medium', 'View callers', 'See the client, IP address and key of logged calls.'),
  'logs:read': row('log:list', 'role', true, 'low', 'View request logs', 'See metadata of calls and deliveries, never payloads.'),
  'mcp:tools': row('', 'role', false, 'medium', 'Use MCP tools', 'Call the tools of one MCP server.'),
  'oauth:introspect': row(
    'oauth:introspect',
    'machine',
    true,
    'medium',
    'Check tokens',
    'Ask whether a token is valid and what it allows.',
  ),
  'oauth_clients:read': row(
    'oauth_client:list oauth_client:read',
    'role',
    true,
    'low',
    'View OAuth clients',
    'See OAuth clients and their scopes.',
  ),
  'oauth_clients:write': row(
    'oauth_client:create oauth_client:update oauth_client:rotate oauth_client:revoke',
    'admin',
    false,
    'high',
    'Manage OAuth clients',
    'Create, change, rotate and revoke OAuth clients with at most its own rights.',
    true,
  ),
  'opportunities:read': row('opportunity:list', 'role', true, 'low', 'View opportunities', 'See suggestions for routes.'),
  'opportunities:write': row(
    'opportunity:accept opportunity:dismiss',
    'role',
    true,
    'medium',
    'Decide on opportunities',
    'Accept and dismiss suggestions.',
  ),
  'pki:issue': row('pki:issue', 'never', false, 'high', 'Issue certificates', 'Issue certificates and read their private keys.'),
  'pki:read': row('pki:read', 'role', true, 'low', 'View certificates', 'See certificate authorities, roles and certificates.'),
  'pki:sign': row('pki:sign', 'role', true, 'high', 'Sign certificates', 'Certify public keys whose private keys stay with the requester.'),
  'pki:write': row(
    'pki:create pki:update pki:delete pki:rotate pki:manage_roles pki:revoke',
    'role',
    true,
    'high',
    'Manage certificates',
    'Create, change and delete certificate authorities and roles, and revoke certificates.',
    true,
  ),
  'proxy:invoke': row('proxy:invoke', 'role', true, 'medium', 'Call routes', 'Send calls through the routes of the workspace.'),
  'roles:read': row('role:list', 'role', true, 'low', 'View roles', 'See the roles that keys and people can have.'),
  'routes:read': row('route:list route:read', 'role', true, 'low', 'View routes', 'See routes and their settings.'),
  'routes:write': row(
    'route:create route:update route:delete route:test',
    'role',
    true,
    'high',
    'Manage routes',
    'Create, change, delete and test routes.',
  ),
  'secrets:read': row(
    'secret:read',
    'role',
    true,
    'low',
    'View and use secrets',
    'See names and usage of secrets, and let routes, webhooks and the like send them. Never shows their values.',
  ),
  'secrets:token': row(
    'secret:read_oauth_token',
    'never',
    false,
    'high',
    'Read access tokens',
    'Read access tokens of connected accounts.',
  ),
  'secrets:write': row(
    'secret:create secret:update secret:delete',
    'role',
    true,
    'high',
    'Manage secrets',
    'Create, overwrite and delete secrets, without reading their values.',
    true,
  ),
  'transit:decrypt': row('transit:decrypt', 'never', false, 'high', 'Decrypt', 'Decrypt data with crypto keys.'),
  'transit:destroy': row('transit:destroy', 'admin', false, 'high', 'Destroy crypto keys', 'Destroy crypto keys for good.'),
  'transit:encrypt': row('transit:encrypt', 'role', true, 'medium', 'Encrypt', 'Encrypt data with crypto keys.'),
  'transit:read': row('transit:read', 'role', true, 'low', 'View crypto keys', 'See crypto keys and their versions, never key material.'),
  'transit:rewrap': row('transit:rewrap', 'never', false, 'high', 'Rewrap', 'Re-encrypt ciphertexts under the newest key version.'),
  'transit:sign': row('transit:sign', 'role', true, 'high', 'Sign', 'Sign data and tokens with crypto keys.'),
  'transit:verify': row('transit:verify', 'role', true, 'low', 'Verify signatures', 'Verify signatures made with crypto keys.'),
  'transit:write': row(
    'transit:create transit:update transit:rotate',
    'role',
    true,
    'high',
    'Manage crypto keys',
    'Create, change and rotate crypto keys.',
    true,
  ),
  'vault:detokenize': row('vault:detokenize', 'never', false, 'high', 'Detokenize', 'Read the values behind tokens.'),
  'vault:list_tokens': row('vault:list_tokens', 'never', true, 'high', 'List tokens', 'List the tokens of a vault.'),
  'vault:tokenize': row('vault:tokenize', 'role', true, 'medium', 'Tokenize', 'Exchange values for tokens.'),
  'vaults:read': row('vault:read', 'role', true, 'low', 'View vaults', 'See vaults and their settings.'),
  'vaults:write': row(
    'vault:create vault:update vault:delete vault:rotate vault:update_token vault:delete_token',
    'role',
    true,
    'high',
    'Manage vaults',
    'Create, change and delete vaults and their tokens.',
  ),
  'webhooks:read': row('webhook:list webhook:read', 'role', true, 'low', 'View webhooks', 'See webhooks and their deliveries.'),
  'webhooks:write': row(
    'webhook:create webhook:update webhook:delete webhook:test',
    'role',
    true,
    'medium',
    'Manage webhooks',
    'Create, change, delete and test webhooks, without reading their signing secrets.',
  ),
  'workflows:execute': row(
    'workflow:execute workflow:cancel',
    'role',
    true,
    'high',
    'Run workflows',
    'Start and cancel runs of workflows.',
  ),
  'workflows:read': row(
    'workflow:list workflow:read workflow:read_execution_data',
    'role',
    true,
    'low',
    'View workflows',
    'See workflows and their runs.',
  ),
  'workflows:write': row(
    'workflow:create workflow:update workflow:delete',
    'role',
    true,
    'high',
    'Manage workflows',
    'Create, change and delete workflows.',
  ),
};

/** `scopes_supported`, in order. */
export const SCOPE_NAMES: readonly string[] = Object.keys(SCOPE_CATALOGUE).sort();

/** Never carried by a person's token, whatever the role, scope, client or consent: their dashboard twins are reveals, or they yield plaintext. */
export const PERSON_FORBIDDEN_SCOPES: readonly string[] = [
  'dyn_db_cred:mint',
  'pki:issue',
  'secrets:token',
  'transit:decrypt',
  'transit:rewrap',
  'vault:detokenize',
  'vault:list_tokens',
];

/** The same as capabilities, for evaluation. */
export const PERSON_FORBIDDEN: ReadonlySet<Capability> = new Set(
  PERSON_FORBIDDEN_SCOPES.flatMap((scope) => SCOPE_CATALOGUE[scope]?.capabilities ?? []),
);

const known = (scope: string): Scope | undefined => (Object.hasOwn(SCOPE_CATALOGUE, scope) ? SCOPE_CATALOGUE[scope] : undefined);

/** Capabilities of a scope list; unknown scopes grant nothing. */
export const expandScopes = (scopes: readonly string[]): ReadonlySet<Capability> =>
  new Set(scopes.flatMap((scope) => known(scope)?.capabilities ?? []));

/** The scopes that aren't in the catalogue, in their order: `invalid_scope` at a token endpoint, validation_error where a client is written. */
export const unknownScopes = (scopes: readonly string[]): readonly string[] => scopes.filter((scope) => known(scope) === undefined);

/**
 * What a person of this role may be granted of the scopes asked for: none that people never carry, those of Owners and Admins only for them, and of the
 * rest those with at least one capability of the role. `holds` says what the role has.
 */
export function scopesForPerson(
  scopes: readonly string[],
  role: MemberRole,
  holds: (capability: Capability) => boolean,
): readonly string[] {
  return scopes.filter((scope) => {
    const found = known(scope);
    if (!found || found.people === 'never' || found.people === 'machine') return false;
    if (found.people === 'admin' && role !== 'owner' && role !== 'admin') return false;
    return found.capabilities.length === 0 || found.capabilities.some(holds);
  });
}

/** What SCIM may allow a client of the scopes asked for. */
export const scopesForScim = (scopes: readonly string[]): readonly string[] => scopes.filter((scope) => known(scope)?.scim === true);

/** Asked for a second factor at consent, by default. */
export const STEP_UP_SCOPES: readonly string[] = SCOPE_NAMES.filter((scope) => known(scope)?.step_up);
