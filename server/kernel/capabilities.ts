import { type Capability, type MemberRole, ROLE_MATRIX } from './role-matrix.ts';

export { type Capability, type Cell, MEMBER_ROLES, type MemberRole, ROLE_MATRIX, rolesWith } from './role-matrix.ts';

/**
 * The closed register of capabilities, member roles, key roles and OAuth scopes (interface rule 24). Data, not code: pages, matrices, tests and
 * authorisation all read these tables.
 */
export const CAPABILITIES: readonly Capability[] = [...ROLE_MATRIX.keys()].sort();

/** Never satisfied by a wildcard grant (interface rule 24 §7). */
export const LITERAL_ONLY: ReadonlySet<Capability> = new Set<Capability>([
  'agent:create',
  'agent:create_server',
  'transit:decrypt',
  'transit:rewrap',
  'vault:detokenize',
  'pki:issue',
  'dyn_db_cred:mint',
  'secret:read_oauth_token',
  'ai_gateway:mint',
  'api_key:create',
  'oauth_client:create',
]);

/** The "names only" of rule 24 §2: who may list but not read sees what a thing is called, and nothing of how it is set. */
const READ_OF_LIST: Partial<Record<Capability, Capability>> = {
  'route:list': 'route:read',
  'environment:list': 'environment:read',
  'collection:list': 'collection:read',
  'ai_gateway:list': 'ai_gateway:read',
};

/** Whether a holder of these may list with `list` and not read what is listed. */
export function seesNamesOnly(held: ReadonlySet<Capability>, list: Capability): boolean {
  const read = READ_OF_LIST[list];
  return read !== undefined && !held.has(read);
}

/** What a person holds in a workspace. Class B acts are absent: they exist only as reveals. */
export function memberCapabilities(role: MemberRole, flags: { reveal_secrets: boolean }): ReadonlySet<Capability> {
  const held = new Set<Capability>();
  for (const [capability, byRole] of ROLE_MATRIX) {
    const cell = byRole[role];
    if (cell === 'y' || cell === 'o' || (cell === 't' && flags.reveal_secrets)) held.add(capability);
  }
  return held;
}

const holders = (role: MemberRole) => CAPABILITIES.filter((c) => ROLE_MATRIX.get(c)?.[role] === 'y');

const invoke: Capability[] = ['proxy:invoke', 'route:list', 'route:read', 'account:read'];
const readOnly = holders('viewer').filter((c) => c !== 'log:read_identity');
const editor: Capability[] = [...holders('editor').filter((c) => c !== 'log:read_identity'), 'secret:read_oauth_token'];
const infrastructure: Capability[] = [
  ...editor,
  'transit:decrypt',
  'transit:rewrap',
  'transit:destroy',
  'vault:detokenize',
  'vault:list_tokens',
  'vault:delete',
  'pki:issue',
  'pki:create',
  'pki:update',
  'pki:rotate',
  'pki:delete',
  'dyn_db_cred:mint',
  'ai_gateway:mint',
  'log:read_identity',
  'api_key:revoke',
  'oauth:introspect',
];

export type KeyRole = { id: string; name: string; description: string; is_default: boolean; capabilities: ReadonlySet<Capability> };

/** Seeded key roles (interface rule 24 §3). The ids are fixed so that configuration files can name them. Widest last. */
export const KEY_ROLES: readonly KeyRole[] = [
  {
    id: '00000000-0000-4000-8000-000000000101',
    name: 'Key - Invoke',
    description: 'Calls routes. No other access.',
    is_default: false,
    capabilities: new Set(invoke),
  },
  {
    id: '00000000-0000-4000-8000-000000000102',
    name: 'Key - Read-only',
    description: "Reads configuration and metadata. Can't call routes.",
    is_default: false,
    capabilities: new Set(readOnly),
  },
  {
    id: '00000000-0000-4000-8000-000000000103',
    name: 'Key - Editor',
    description: "Manages and calls routes; manages secrets, clients and environments. Can't reveal secret values.",
    is_default: true,
    capabilities: new Set(editor),
  },
  {
    id: '00000000-0000-4000-8000-000000000104',
    name: 'Key - Infrastructure',
    description: 'Full access for machines.',
    is_default: false,
    capabilities: new Set(infrastructure),
  },
];

export const MEMBER_ROLE_ROWS: readonly { id: string; name: string; description: string }[] = [
  {
    id: '00000000-0000-4000-8000-000000000201',
    name: 'Owner',
    description: 'Full access, including billing, ownership and deleting the workspace.',
  },
  { id: '00000000-0000-4000-8000-000000000202', name: 'Admin', description: 'Full access, except actions reserved for the Owner.' },
  {
    id: '00000000-0000-4000-8000-000000000203',
    name: 'Editor',
    description: 'Manages routes, secrets, clients and environments. No access to people or billing.',
  },
  { id: '00000000-0000-4000-8000-000000000204', name: 'Viewer', description: 'Reads configuration and metadata.' },
  {
    id: '00000000-0000-4000-8000-000000000205',
    name: 'Member',
    description: 'Signs in and sees resource names and request log metadata. An Admin can assign a higher role.',
  },
];

/** Union of the seeded key roles' grants; unknown ids grant nothing. */
export function keyCapabilities(roleIds: readonly string[]): ReadonlySet<Capability> {
  const held = new Set<Capability>();
  for (const id of roleIds) for (const c of KEY_ROLES.find((r) => r.id === id)?.capabilities ?? []) held.add(c);
  return held;
}

/** OAuth scopes (interface rule 24 §4): scope -> capabilities. An operation's scope is the one that covers its capability. */
export const SCOPES: Readonly<Record<string, readonly Capability[]>> = {
  'account:read': ['account:read'],
  'account:write': ['account:update'],
  'agents:read': ['agent:list', 'agent:read'],
  'agents:write': ['agent:create', 'agent:update', 'agent:revoke'],
  'ai_gateway:create': ['ai_gateway:create'],
  'ai_gateway:delete': ['ai_gateway:delete'],
  'ai_gateway:mint': ['ai_gateway:mint'],
  'ai_gateway:read': ['ai_gateway:read', 'ai_gateway:list'],
  'ai_gateway:read_usage': ['ai_gateway:read_usage'],
  'ai_gateway:update': ['ai_gateway:update'],
  'api_keys:read': ['api_key:list', 'api_key:read'],
  'api_keys:write': ['api_key:create', 'api_key:update', 'api_key:revoke'],
  'audit_logs:read': ['audit_log:list'],
  'clients:read': ['client:read'],
  'clients:write': ['client:create', 'client:update', 'client:delete'],
  'collections:read': ['collection:list', 'collection:read'],
  'collections:write': ['collection:create', 'collection:update', 'collection:delete'],
  'dyn_db:read': ['dyn_db_cred:read'],
  'dyn_db:write': ['dyn_db_cred:create', 'dyn_db_cred:update', 'dyn_db_cred:delete', 'dyn_db_cred:manage_roles', 'dyn_db_cred:revoke'],
  'dyn_db_cred:mint': ['dyn_db_cred:mint'],
  'environments:read': ['environment:list', 'environment:read'],
  'environments:write': ['environment:create', 'environment:update', 'environment:delete'],
  'logs:identity': ['log:read_identity'],
  'logs:read': ['log:list'],
  'oauth:introspect': ['oauth:introspect'],
  'oauth_clients:read': ['oauth_client:list', 'oauth_client:read'],
  'oauth_clients:write': ['oauth_client:create', 'oauth_client:update', 'oauth_client:rotate', 'oauth_client:revoke'],
  'opportunities:read': ['opportunity:list'],
  'opportunities:write': ['opportunity:accept', 'opportunity:dismiss'],
  'pki:issue': ['pki:issue'],
  'pki:read': ['pki:read'],
  'pki:write': ['pki:create', 'pki:update', 'pki:delete', 'pki:rotate', 'pki:manage_roles', 'pki:revoke'],
  'proxy:invoke': ['proxy:invoke'],
  'roles:read': ['role:list'],
  'routes:read': ['route:list', 'route:read'],
  'routes:write': ['route:create', 'route:update', 'route:delete', 'route:test'],
  'secrets:read': ['secret:read'],
  'secrets:token': ['secret:read_oauth_token'],
  'secrets:write': ['secret:create', 'secret:update', 'secret:delete'],
  'transit:decrypt': ['transit:decrypt'],
  'transit:destroy': ['transit:destroy'],
  'transit:encrypt': ['transit:encrypt'],
  'transit:read': ['transit:read'],
  'transit:rewrap': ['transit:rewrap'],
  'transit:sign': ['transit:sign'],
  'transit:verify': ['transit:verify'],
  'transit:write': ['transit:create', 'transit:update', 'transit:rotate'],
  'vault:detokenize': ['vault:detokenize'],
  'vault:list_tokens': ['vault:list_tokens'],
  'vault:tokenize': ['vault:tokenize'],
  'vaults:read': ['vault:read'],
  'vaults:write': ['vault:create', 'vault:update', 'vault:delete', 'vault:rotate', 'vault:update_token', 'vault:delete_token'],
  'webhooks:read': ['webhook:list', 'webhook:read'],
  'webhooks:write': ['webhook:create', 'webhook:update', 'webhook:delete', 'webhook:test'],
  'workflows:execute': ['workflow:execute', 'workflow:cancel'],
  'workflows:read': ['workflow:list', 'workflow:read', 'workflow:read_execution_data'],
  'workflows:write': ['workflow:create', 'workflow:update', 'workflow:delete'],
};

/** Capabilities of a scope list; unknown scopes grant nothing. */
export function scopeCapabilities(scopes: readonly string[]): ReadonlySet<Capability> {
  return new Set(scopes.flatMap((s) => SCOPES[s] ?? []));
}

/** What an API key may do: what its roles give, within its scopes when it was made with scopes. */
export function capabilitiesOfKey(key: {
  role_ids: readonly string[];
  scoped: boolean;
  scopes: readonly string[];
}): ReadonlySet<Capability> {
  const held = keyCapabilities(key.role_ids);
  if (!key.scoped) return held;
  const within = scopeCapabilities(key.scopes);
  return new Set([...held].filter((capability) => within.has(capability)));
}

/** What no token of a person ever carries, whatever role or consent (interface rule 24 §5). */
export const PERSON_FORBIDDEN: ReadonlySet<Capability> = new Set<Capability>([
  'transit:decrypt',
  'transit:rewrap',
  'vault:detokenize',
  'vault:list_tokens',
  'pki:issue',
  'dyn_db_cred:mint',
  'secret:read_oauth_token',
]);

/** What of a member's rights a call of /v1 in their name may use: what some scope covers, and nothing a person's token never carries. */
export function personCapabilities(held: ReadonlySet<Capability>): ReadonlySet<Capability> {
  return new Set([...held].filter((c) => !PERSON_FORBIDDEN.has(c) && scopeOf(c) !== undefined));
}

/** The scope that covers a capability, for documentation; undefined for dashboard-only acts. */
export const scopeOf = (capability: Capability): string | undefined => Object.keys(SCOPES).find((s) => SCOPES[s]?.includes(capability));
