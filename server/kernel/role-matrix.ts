/**
 * Which member role may do what (interface rule 24 §2). Apart from the other tables of that rule: the frame of every page of the dashboard asks it.
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
    'route:create route:update route:delete route:test environment:create environment:update environment:delete client:create client:update client:delete collection:create collection:update collection:delete proxy:invoke secret:create secret:update secret:delete webhook:create webhook:update webhook:delete webhook:test inbound_webhook:list inbound_webhook:read inbound_webhook:create inbound_webhook:update inbound_webhook:delete inbound_webhook:test alert:create alert:update alert:delete api_key:create api_key:update oauth_client:list oauth_client:read transit:encrypt transit:sign transit:verify transit:create transit:update transit:rotate vault:create vault:update vault:rotate vault:tokenize vault:update_token vault:delete_token pki:manage_roles pki:revoke pki:sign dyn_db_cred:create dyn_db_cred:update dyn_db_cred:delete dyn_db_cred:manage_roles dyn_db_cred:revoke opportunity:accept opportunity:dismiss workflow:create workflow:update workflow:delete workflow:execute workflow:cancel ai_gateway:create ai_gateway:update ai_gateway:delete agent:create agent:update agent:revoke domain:list',
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

/** Member roles that hold a capability at least for their own rows, widest first; none for what only reveals and machines do. */
export const rolesWith = (capability: Capability): readonly MemberRole[] =>
  MEMBER_ROLES.filter((role) => ['y', 'o'].includes(ROLE_MATRIX.get(capability)?.[role] ?? '-'));
