import { type Capability, type MemberRole, ROLE_MATRIX } from './role-matrix.ts';
import { expandScopes, PERSON_FORBIDDEN, SCOPE_CATALOGUE, SCOPE_NAMES } from './scopes.ts';

export { type Capability, type Cell, MEMBER_ROLES, type MemberRole, ROLE_MATRIX, rolesWith } from './role-matrix.ts';
export { PERSON_FORBIDDEN } from './scopes.ts';

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

/** Whether grants cover a capability (interface rule 24 §7). `literal_only`: a wildcard would, but this one must be named. */
export function coverage(grants: ReadonlySet<string>, capability: Capability): 'covered' | 'literal_only' | 'missing' {
  if (grants.has(capability)) return 'covered';
  const wild = grants.has(`${capability.slice(0, capability.indexOf(':'))}:*`) || grants.has('*:*');
  return wild ? (LITERAL_ONLY.has(capability) ? 'literal_only' : 'covered') : 'missing';
}

/** The capabilities that grants stand for, wildcards included, as an actor holds them. */
export const expandGrants = (grants: readonly string[]): ReadonlySet<Capability> => {
  const given = new Set(grants);
  return new Set(CAPABILITIES.filter((capability) => coverage(given, capability) === 'covered'));
};

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

/** Capabilities of a scope list; unknown scopes grant nothing. */
export const scopeCapabilities = expandScopes;

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

/** The scopes of an API key as an OAuth client: every scope of which it has a capability, within its scopes when it was made with scopes. */
export function scopesOfKey(key: { role_ids: readonly string[]; scoped: boolean; scopes: readonly string[] }): readonly string[] {
  const held = keyCapabilities(key.role_ids);
  return SCOPE_NAMES.filter(
    (scope) =>
      SCOPE_CATALOGUE[scope]?.capabilities.some((capability) => held.has(capability)) && (!key.scoped || key.scopes.includes(scope)),
  );
}

/** What of a member's rights a call of /v1 in their name may use: what some scope covers, and nothing a person's token never carries. */
export function personCapabilities(held: ReadonlySet<Capability>): ReadonlySet<Capability> {
  return new Set([...held].filter((c) => !PERSON_FORBIDDEN.has(c) && scopeOf(c) !== undefined));
}

/** The scope that covers a capability, for documentation; undefined for dashboard-only acts. */
export const scopeOf = (capability: Capability): string | undefined =>
  SCOPE_NAMES.find((scope) => SCOPE_CATALOGUE[scope]?.capabilities.includes(capability));
