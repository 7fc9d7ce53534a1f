import assert from 'node:assert/strict';
import test from 'node:test';
import { CAPABILITIES, type Capability, coverage, expandGrants, KEY_ROLES, LITERAL_ONLY, memberCapabilities } from './capabilities.ts';
import { MEMBER_ROLES, ROLE_MATRIX } from './role-matrix.ts';

/** The table of interface rule 24 §2 as it stands there; `resource:a/b` is one capability each. */
const TABLE = `
route:list environment:list collection:list ai_gateway:list | y y y y y
route:read environment:read client:read collection:read | y y y y -
route:create/update/delete/test environment:create/update/delete client:create/update/delete collection:create/update/delete | y y y - -
proxy:invoke | y y y - -
secret:read | y y y y -
secret:create/update/delete | y y y - -
secret:reveal workflow:test_credentialed/reveal_webhook_url | y y t - -
secret:share | B B - - -
secret:read_oauth_token oauth:introspect | - - - - -
webhook:list/read | y y y y -
webhook:create/update/delete/test inbound_webhook:list/read/create/update/delete/test | y y y - -
webhook:reveal_secret | B B - - -
log:list/read_identity | y y y y y
log:read_payload | B B - - -
analytics:read alert:read | y y y y -
alert:create/update/delete | y y y - -
log:export audit_log:export | y y - - -
audit_log:list | y y y y -
audit_log:read_details log_stream:manage | y y - - -
api_key:list/read | y y y y -
api_key:create/update | y y y - -
api_key:revoke | y y o - -
role:list | y y y y -
oauth_client:list/read | y y y - -
oauth_client:create/update/rotate/revoke | y y - - -
transit:read | y y y y -
transit:encrypt/sign/verify/create/update/rotate | y y y - -
transit:destroy | y y - - -
transit:decrypt/rewrap | B B - - -
vault:read | y y y y -
vault:create/update/rotate/tokenize/update_token/delete_token | y y y - -
vault:delete | y y - - -
vault:detokenize/list_tokens | B B - - -
pki:read | y y y y -
pki:manage_roles/revoke/sign | y y y - -
pki:create/update/delete/rotate | y y - - -
pki:issue | B B - - -
dyn_db_cred:read | y y y y -
dyn_db_cred:create/update/delete/manage_roles/revoke | y y y - -
dyn_db_cred:mint | B B - - -
opportunity:list | y y y y -
opportunity:accept/dismiss | y y y - -
workflow:list/read/read_execution_data | y y y y -
workflow:create/update/delete/execute/cancel | y y y - -
ai_gateway:read/read_usage | y y y y -
ai_gateway:create/update/delete | y y y - -
ai_gateway:mint | y y - - -
agent:list/read | y y y y -
agent:create/update/revoke | y y y - -
agent:reset_fingerprint | y y - - -
agent:create_server | B B - - -
migration:read/create/cancel | y y - - -
migration:review/commit | B B - - -
kms:read/onboard/rotate/unseal/revoke | y y - - -
member:list | y y y y -
member:invite/update/remove | y y - - -
member:grant_admin/set_reviewer | y - - - -
domain:list | y y y - -
domain:manage scim_credential:list/create/revoke sso:read policy:list/create/update/delete settings:update | y y - - -
sso:manage | y - - - -
account:read | y y y y y
account:update billing:read/update_tax | y y - - -
sandbox:promote | y y - - -
billing:change_plan tenant:delete/change_slug/transfer sandbox:reset | y - - - -`;

const expanded = new Map(
  TABLE.trim()
    .split('\n')
    .flatMap((line) => {
      const [names = '', cells = ''] = line.split(' | ');
      return names.split(' ').flatMap((name) => {
        const [resource, verbs = ''] = name.split(':');
        return verbs.split('/').map((verb) => [`${resource}:${verb}`, cells] as const);
      });
    }),
);

test('the matrix in code is the table of the interface, cell by cell', () => {
  const inCode = new Map(
    [...ROLE_MATRIX].map(([capability, cells]) => [capability as string, MEMBER_ROLES.map((role) => cells[role]).join(' ')]),
  );
  const sorted = (map: ReadonlyMap<string, string>) => [...map].sort(([a], [b]) => a.localeCompare(b));
  assert.deepEqual(sorted(inCode), sorted(expanded));
});

test('of the table, a person holds y and their own, t with the flag, and B only through reveals', () => {
  for (const role of MEMBER_ROLES)
    for (const reveal_secrets of [false, true]) {
      const held = memberCapabilities(role, { reveal_secrets });
      for (const capability of CAPABILITIES) {
        const cell = ROLE_MATRIX.get(capability)?.[role];
        assert.equal(held.has(capability), cell === 'y' || cell === 'o' || (cell === 't' && reveal_secrets), `${role} ${capability}`);
      }
    }
});

test('a wildcard grants everything of its reach but what must be named', () => {
  const everything = expandGrants(['*:*']);
  for (const capability of CAPABILITIES) assert.equal(everything.has(capability), !LITERAL_ONLY.has(capability), capability);
  assert.deepEqual(
    [...expandGrants(['vault:*', 'vault:detokenize'])].sort(),
    CAPABILITIES.filter((one) => one.startsWith('vault:')),
  );
  assert.ok(!expandGrants(['vault:*']).has('vault:detokenize'));
  const of = (grants: string[], capability: Capability) => coverage(new Set(grants), capability);
  assert.deepEqual(
    [of(['*:*'], 'agent:create'), of(['agent:*'], 'agent:create'), of(['agent:create'], 'agent:create'), of(['agents:*'], 'agent:list')],
    ['literal_only', 'literal_only', 'covered', 'missing'],
  );
});

test('the seeded key roles hold what the interface says of each', () => {
  const role = (name: string) => KEY_ROLES.find((one) => one.name === `Key - ${name}`)?.capabilities ?? new Set<Capability>();
  const of = (member: 'viewer' | 'editor') =>
    CAPABILITIES.filter((one) => ROLE_MATRIX.get(one)?.[member] === 'y' && one !== 'log:read_identity');
  assert.deepEqual([...role('Invoke')].sort(), ['account:read', 'proxy:invoke', 'route:list', 'route:read']);
  assert.deepEqual([...role('Read-only')].sort(), of('viewer'));
  const editor = [...of('editor'), 'secret:read_oauth_token'].sort();
  assert.deepEqual([...role('Editor')].sort(), editor);
  const more =
    `transit:decrypt transit:rewrap transit:destroy vault:detokenize vault:list_tokens vault:delete pki:issue pki:create pki:update pki:rotate
    pki:delete dyn_db_cred:mint ai_gateway:mint log:read_identity api_key:revoke oauth:introspect`.split(/\s+/);
  assert.deepEqual([...role('Infrastructure')].sort(), [...editor, ...more].sort());
  for (const { name, capabilities } of KEY_ROLES) assert.equal(capabilities.has('proxy:invoke'), name !== 'Key - Read-only', name);
});
