import assert from 'node:assert/strict';
import test from 'node:test';
import { memberCapabilities, PERSON_FORBIDDEN } from './capabilities.ts';
import { MEMBER_ROLES, type MemberRole, ROLE_MATRIX } from './role-matrix.ts';
import {
  expandScopes,
  PERSON_FORBIDDEN_SCOPES,
  SCOPE_CATALOGUE,
  SCOPE_NAMES,
  STEP_UP_SCOPES,
  scopesForPerson,
  scopesForScim,
  unknownScopes,
} from './scopes.ts';

/** The table of interface rule 24 §4: scope | capabilities | people | SCIM. */
const TABLE = `
routes:read | route:list/read | role | y
routes:write | route:create/update/delete/test | role | y
proxy:invoke | proxy:invoke | role | y
secrets:read | secret:read | role | y
secrets:write | secret:create/update/delete | role | y
secrets:token | secret:read_oauth_token | never | -
clients:read | client:read | role | y
clients:write | client:create/update/delete | role | y
environments:read | environment:list/read | role | y
environments:write | environment:create/update/delete | role | y
collections:read | collection:list/read | role | y
collections:write | collection:create/update/delete | role | y
webhooks:read | webhook:list/read | role | y
webhooks:write | webhook:create/update/delete/test | role | y
logs:read | log:list | role | y
logs:identity | log:read_identity | role | -
audit_logs:read | audit_log:list | role | y
account:read | account:read | role | y
account:write | account:update | admin | -
roles:read | role:list | role | y
api_keys:read | api_key:list/read | role | y
api_keys:write | api_key:create/update/revoke | role | -
oauth_clients:read | oauth_client:list/read | role | y
oauth_clients:write | oauth_client:create/update/rotate/revoke | admin | -
oauth:introspect | oauth:introspect | machine | y
agents:read | agent:list/read | role | y
agents:write | agent:create/update/revoke | role | y
transit:read | transit:read | role | y
transit:write | transit:create/update/rotate | role | y
transit:destroy | transit:destroy | admin | -
transit:encrypt | transit:encrypt | role | y
transit:sign | transit:sign | role | y
transit:verify | transit:verify | role | y
transit:rewrap | transit:rewrap | never | -
transit:decrypt | transit:decrypt | never | -
vaults:read | vault:read | role | y
vaults:write | vault:create/update/delete/rotate/update_token/delete_token | role | y
vault:tokenize | vault:tokenize | role | y
vault:list_tokens | vault:list_tokens | never | y
vault:detokenize | vault:detokenize | never | -
pki:read | pki:read | role | y
pki:sign | pki:sign | role | y
pki:write | pki:create/update/delete/rotate/manage_roles/revoke | role | y
pki:issue | pki:issue | never | -
dyn_db:read | dyn_db_cred:read | role | y
dyn_db:write | dyn_db_cred:create/update/delete/manage_roles/revoke | role | y
dyn_db_cred:mint | dyn_db_cred:mint | never | -
opportunities:read | opportunity:list | role | y
opportunities:write | opportunity:accept/dismiss | role | y
workflows:read | workflow:list/read/read_execution_data | role | y
workflows:write | workflow:create/update/delete | role | y
workflows:execute | workflow:execute/cancel | role | y
ai_gateway:read | ai_gateway:list/read | role | y
ai_gateway:create | ai_gateway:create | role | y
ai_gateway:update | ai_gateway:update | role | y
ai_gateway:delete | ai_gateway:delete | role | y
ai_gateway:read_usage | ai_gateway:read_usage | role | y
ai_gateway:mint | ai_gateway:mint | admin | -
mcp:tools |  | role | -`;

const rows = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [scope = '', capabilities = '', people, scim] = line.split('|').map((cell) => cell.trim());
    const [resource, verbs = ''] = capabilities.split(':');
    return {
      scope,
      capabilities: capabilities === '' ? [] : verbs.split('/').map((verb) => `${resource}:${verb}`),
      people,
      scim: scim === 'y',
    };
  });

test('the catalogue in code is the table of the interface, column by column', () => {
  assert.deepEqual([...SCOPE_NAMES], rows.map(({ scope }) => scope).sort());
  for (const { scope, ...expected } of rows) {
    const { capabilities, people, scim } = SCOPE_CATALOGUE[scope] ?? {};
    assert.deepEqual(
      { capabilities: [...(capabilities ?? [])].sort(), people, scim },
      { ...expected, capabilities: expected.capabilities.sort() },
      scope,
    );
  }
});

test('every scope says in words what it allows, and names capabilities of the register', () => {
  for (const [scope, { title, sentence, capabilities }] of Object.entries(SCOPE_CATALOGUE)) {
    assert.ok(title.length > 3 && !title.endsWith('.') && sentence.endsWith('.'), scope);
    for (const capability of capabilities) assert.ok(ROLE_MATRIX.has(capability), `${scope} ${capability}`);
  }
  const reserved =
    /^(?:member|billing|domain|sso|scim_credential|policy|kms|migration|alert|analytics|log_stream|sandbox|tenant|settings):/;
  for (const capability of expandScopes(SCOPE_NAMES)) assert.doesNotMatch(capability, reserved);
  for (const capability of [
    'log:read_payload',
    'audit_log:read_details',
    'webhook:reveal_secret',
    'secret:reveal',
    'agent:create_server',
  ] as const)
    assert.ok(!expandScopes(SCOPE_NAMES).has(capability), capability);
  assert.deepEqual(
    [...STEP_UP_SCOPES],
    ['agents:write', 'api_keys:write', 'oauth_clients:write', 'pki:write', 'secrets:write', 'transit:write'],
  );
});

test('a person is never granted what people never carry, whatever the role; of the rest what the role has', () => {
  assert.deepEqual(PERSON_FORBIDDEN, expandScopes(PERSON_FORBIDDEN_SCOPES));
  const forPerson = (scopes: readonly string[], role: MemberRole) => {
    const held = memberCapabilities(role, { reveal_secrets: true });
    return scopesForPerson(scopes, role, (capability) => held.has(capability));
  };
  for (const role of MEMBER_ROLES) {
    const granted = forPerson(SCOPE_NAMES, role);
    for (const scope of PERSON_FORBIDDEN_SCOPES) assert.ok(!granted.includes(scope), `${role} ${scope}`);
    assert.deepEqual(forPerson(PERSON_FORBIDDEN_SCOPES, role), [], 'nothing is left: invalid_scope');
    assert.equal(granted.includes('oauth_clients:write'), role === 'owner' || role === 'admin');
    assert.ok(!granted.includes('oauth:introspect'));
  }
  assert.deepEqual(forPerson(['routes:read', 'routes:write', 'proxy:invoke'], 'viewer'), ['routes:read']);
  assert.ok(forPerson(['proxy:invoke'], 'editor').length === 1);
  assert.deepEqual(forPerson(['nonsense', '__proto__', 'constructor'], 'owner'), []);
});

test('SCIM may allow read only of keys, clients and the account; unknown scopes are told apart', () => {
  assert.deepEqual(
    scopesForScim(['api_keys:read', 'api_keys:write', 'oauth_clients:write', 'account:write', 'logs:identity', 'vault:list_tokens']),
    ['api_keys:read', 'vault:list_tokens'],
  );
  assert.deepEqual(unknownScopes(['routes:read', 'route:read', 'toString', 'routes:write']), ['route:read', 'toString']);
  assert.deepEqual([...expandScopes(['toString', 'routes:read', 'nope'])], ['route:list', 'route:read']);
});
