/**
 * The closed register of capabilities, member roles, key roles and OAuth scopes (interface rule 24). Data, not code: pages, matrices, tests and
 * authorisation all read these tables.
 */
export const MEMBER_ROLES = ['owner', 'admin', 'editor', 'viewer', 'member'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/**
 * `O A E V M`: y yes, - no, t only with the Reveal secrets flag, B a Class B reveal in the dashboard, o own rows only.
 * Line for line the matrix of rule 24 §2.
 */
const MATRIX = {
  'y y y y y': 'route:list environment:list collection:list ai_gateway:list log:list log:read_identity account:read',
  'y y y y -':
    'route:read environment:read client:read collection:read secret:read webhook:list webhook:read analytics:read alert:read audit_log:list api_key:list api_key:read role:list transit:read vault:read pki:read dyn_db_cred:read opportunity:list workflow:list workflow:read workflow:read_execution_data ai_gateway:read ai_gateway:read_usage agent:list agent:read member:list',
  'y y y - -':
    'route:create route:update route:delete route:test environment:create environment:update environment:delete client:create client:update client:delete collection:create collection:update collection:delete proxy:invoke secret:create secret:update secret:delete webhook:create webhook:update webhook:delete webhook:test inbound_webhook:list inbound_webhook:read inbound_webhook:create inbound_webhook:update inbound_webhook:delete inbound_webhook:test alert:create alert:update alert:delete api_key:create api_key:update oauth_client:list oauth_client:read transit:encrypt transit:sign transit:verify transit:create transit:update transit:rotate vault:create vault:update vault:rotate vault:tokenize vault:update_token vault:delete_token pki:manage_roles pki:revoke dyn_db_cred:create dyn_db_cred:update dyn_db_cred:delete dyn_db_cred:manage_roles dyn_db_cred:revoke opportunity:accept opportunity:dismiss workflow:create workflow:update workflow:delete workflow:execute workflow:cancel ai_gateway:create ai_gateway:update ai_gateway:delete agent:create agent:update agent:revoke domain:list',
  'y y - - -':
    'log:export audit_log:export audit_log:read_details log_stream:manage oauth_client:create oauth_client:update oauth_client:rotate oauth_client:revoke transit:destroy vault:delete pki:create pki:update pki:delete pki:rotate ai_gateway:mint agent:reset_fingerprint migration:read migration:create migration:cancel kms:read kms:onboard kms:rotate kms:unseal kms:revoke member:invite member:update member:remove domain:manage scim_credential:list scim_credential:create scim_credential:revoke sso:read policy:list policy:create policy:update policy:delete settings:update account:update billing:read billing:update_tax sandbox:promote',
  'y - - - -':
    'member:grant_admin member:set_reviewer sso:manage billing:change_plan tenant:delete tenant:change_slug tenant:transfer sandbox:reset',
  'y y t - -': 'secret:reveal workflow:test_credentialed workflow:reveal_webhook_url',
  'y y o - -': 'api_key:revoke',
  'B B - - -':
    'secret:share webhook:reveal_secret log:read_payload transit:decrypt transit:rewrap vault:detokenize vault:list_tokens pki:issue dyn_db_cred:mint agent:create_server migration:review migration:commit',
  '- - - - -': 'secret:read_oauth_token oauth:introspect',
} as const;

/** Tail-recursive, so that the compiler follows a hundred words. */
type Words<S extends string, Seen = never> = S extends `${infer Head} ${infer Rest}` ? Words<Rest, Seen | Head> : Seen | S;
/** `resource:action`: what an operation demands. */
export type Capability = Words<(typeof MATRIX)[keyof typeof MATRIX]>;
export type Cell = 'y' | '-' | 't' | 'B' | 'o';

/** capability -> cell per member role. */
export const ROLE_MATRIX = new Map<Capability, Record<MemberRole, Cell>>(
  Object.entries(MATRIX).flatMap(([cells, capabilities]) => {
    const row = cells.split(' ') as Cell[];
    const byRole = Object.fromEntries(MEMBER_ROLES.map((role, i) => [role, row[i] ?? '-'])) as Record<MemberRole, Cell>;
    return capabilities.split(' ').map((c) => [c as Capability, byRole] as const);
  }),
);

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

/** Member roles that hold a capability at least for their own rows, widest first; none for what only reveals and machines do. */
export const rolesWith = (capability: Capability): readonly MemberRole[] =>
  MEMBER_ROLES.filter((role) => ['y', 'o'].includes(ROLE_MATRIX.get(capability)?.[role] ?? '-'));

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
    description: 'Calls routes and nothing else.',
    is_default: false,
    capabilities: new Set(invoke),
  },
  {
    id: '00000000-0000-4000-8000-000000000102',
    name: 'Key - Read-only',
    description: 'Reads configuration and metadata; calls nothing.',
    is_default: false,
    capabilities: new Set(readOnly),
  },
  {
    id: '00000000-0000-4000-8000-000000000103',
    name: 'Key - Editor',
    description: 'Builds routes, secrets, clients and environments, and calls routes. Never reads a value back.',
    is_default: true,
    capabilities: new Set(editor),
  },
  {
    id: '00000000-0000-4000-8000-000000000104',
    name: 'Key - Infrastructure',
    description: 'Everything a machine may do.',
    is_default: false,
    capabilities: new Set(infrastructure),
  },
];

export const MEMBER_ROLE_ROWS: readonly { id: string; name: string; description: string }[] = [
  { id: '00000000-0000-4000-8000-000000000201', name: 'Owner', description: 'Everything, billing, deletion and ownership included.' },
  { id: '00000000-0000-4000-8000-000000000202', name: 'Admin', description: 'Everything but the acts reserved for the Owner.' },
  {
    id: '00000000-0000-4000-8000-000000000203',
    name: 'Editor',
    description: 'Builds routes, secrets, clients and environments; no people, no billing.',
  },
  { id: '00000000-0000-4000-8000-000000000204', name: 'Viewer', description: 'Reads configuration and metadata.' },
  {
    id: '00000000-0000-4000-8000-000000000205',
    name: 'Member',
    description: 'Signs in; sees names and request log metadata. An Admin raises it.',
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
