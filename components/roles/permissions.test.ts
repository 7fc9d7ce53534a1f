import assert from 'node:assert/strict';
import test from 'node:test';
import { operations } from '#server/api/operations.ts';
import { CAPABILITIES, keyCapabilities, type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import { capabilitiesOf } from '#server/kernel/needs.ts';
import { listedOperations } from '#server/trpc/listed-operations.ts';
import { grantOf, KEY_ROLE_COLUMNS, MEMBER_ROLE_COLUMNS, type Resource, resourcesOf } from './permissions.ts';

const resources = resourcesOf(listedOperations());
const actionsOf = (of: readonly Resource[]) => of.flatMap(({ permissions }) => permissions.flatMap(({ actions }) => actions));
const rowOf = (title: string, label: string, of = resources) => {
  const row = of.find((resource) => resource.title === title)?.permissions.find((permission) => permission.label === label);
  assert.ok(row, `${title}: ${label}`);
  return row;
};
const grantTo = (role: string, title: string, label: string) => {
  const column = MEMBER_ROLE_COLUMNS.find(({ name }) => name === role);
  assert.ok(column, role);
  return grantOf(rowOf(title, label), column.grants);
};
/** As if every family were built: one operation per capability. */
const whole = resourcesOf(
  CAPABILITIES.map((capability) => ({
    id: capability,
    procedure: null,
    method: 'GET',
    path: '/',
    summary: capability,
    public: true,
    needs: [capability],
    status: 200,
  })),
);

test('lists every operation under each capability it needs, and no capability that nothing needs', () => {
  const actions = actionsOf(resources);
  for (const op of operations)
    for (const need of capabilitiesOf(op.needs))
      assert.ok(actions.find(({ capability }) => capability === need)?.summaries.includes(op.summary), `${op.id} under ${need}`);
  const needed = new Set(operations.flatMap((op) => capabilitiesOf(op.needs)));
  for (const { capability } of actions)
    assert.ok(needed.has(capability) || capability === 'proxy:invoke' || capability === 'log:read_identity', capability);
});

test('shows a role as allowed exactly where authorization allows it', () => {
  for (const { capability } of actionsOf(whole)) {
    for (const column of MEMBER_ROLE_COLUMNS)
      assert.equal(
        ['yes', 'own'].includes(column.grants(capability)),
        memberCapabilities(column.id as MemberRole, { reveal_secrets: false }).has(capability),
        `${column.name} ${capability}`,
      );
    for (const column of KEY_ROLE_COLUMNS)
      assert.equal(column.grants(capability) === 'yes', keyCapabilities([column.id]).has(capability), `${column.name} ${capability}`);
  }
});

test('has a few rows per resource, with every capability of the register in exactly one', () => {
  const capabilities = actionsOf(whole).map(({ capability }) => capability);
  assert.deepEqual(capabilities.toSorted(), CAPABILITIES);
  for (const { title, permissions } of whole) {
    assert.ok(permissions.length <= 10, `${title} has ${permissions.length} rows`);
    assert.equal(new Set(permissions.map(({ label }) => label)).size, permissions.length, title);
  }
  for (const { title, permissions } of resources) assert.ok(permissions.length <= 9, `${title} has ${permissions.length} rows`);
});

test('names resources and rows as people do', () => {
  const titles = resources.map(({ title }) => title);
  assert.ok(titles.includes('Key management') && titles.includes('Audit log') && titles.includes('Workspace'), titles.join());
  const labels = (title: string) => resources.find((resource) => resource.title === title)?.permissions.map(({ label }) => label);
  assert.deepEqual(labels('Routes'), ['View', 'Create and edit', 'Delete', 'Call through the gateway', 'Test']);
  assert.deepEqual(labels('Workspace'), ['View', 'Edit', 'Delete', 'Transfer ownership', 'Change the slug']);
  assert.deepEqual(labels('API keys'), ['View', 'Create and edit', 'Revoke']);
});

test('tells what is held in part', () => {
  assert.equal(grantTo('Owner', 'Routes', 'View'), 'yes');
  assert.equal(grantTo('Member', 'Routes', 'View'), 'names');
  assert.equal(grantTo('Member', 'Routes', 'Delete'), 'no');
  assert.equal(grantTo('Editor', 'API keys', 'Revoke'), 'own');
  assert.equal(
    grantOf(rowOf('Secrets', 'Reveal', whole), () => 'flag'),
    'flag',
  );
  assert.equal(
    grantOf(rowOf('Routes', 'Create and edit'), (capability) => (capability === 'route:update' ? 'yes' : 'no')),
    'some',
  );
});
