import assert from 'node:assert/strict';
import test from 'node:test';
import type { Role } from './labels.ts';
import { CUSTOM, creationOf, newRoleBody, roleChanges, roleDraftOf, roleSchema } from './role-draft.ts';

const own = "CREATE ROLE {{username}} PASSWORD '{{password}}'";
const role = {
  name: 'app',
  template: 'postgres-readonly',
  creation_sql_template: 'from the template',
  revocation_sql_template: null,
  default_ttl_seconds: 900,
  max_ttl_seconds: null,
} as Partial<Role> as Role;

test('a template or statements are sent, never both, and for IAM neither', () => {
  const draft = { ...roleDraftOf(undefined, 'postgres'), name: 'app' };
  assert.deepEqual(newRoleBody(draft, false), { name: 'app', template: 'postgres-readonly' });
  assert.deepEqual(newRoleBody({ ...draft, template: CUSTOM, creation_sql: own, revocation_sql: 'DROP ROLE {{username}}' }, false), {
    name: 'app',
    creation_sql: own,
    revocation_sql: 'DROP ROLE {{username}}',
  });
  assert.deepEqual(newRoleBody({ ...draft, default_ttl_seconds: '10m' }, true), { name: 'app', default_ttl_seconds: 600 });
});

test('an edit sends what differs, and null for what is inherited again', () => {
  const before = roleDraftOf(role, 'postgres');
  assert.deepEqual([before.template, before.creation_sql, before.default_ttl_seconds], ['postgres-readonly', '', '15m']);
  assert.deepEqual(roleChanges(before, before, false), {});
  assert.deepEqual(roleChanges({ ...before, template: CUSTOM, creation_sql: own }, before, false), { creation_sql: own });
  assert.deepEqual(roleChanges({ ...before, template: 'postgres-readwrite', default_ttl_seconds: '' }, before, false), {
    template: 'postgres-readwrite',
    default_ttl_seconds: null,
  });
  const custom = roleDraftOf({ ...role, template: null, creation_sql_template: own, revocation_sql_template: 'x' }, 'postgres');
  assert.deepEqual(roleChanges({ ...custom, revocation_sql: '' }, custom, false), { revocation_sql: null });
});

test('statements are checked while they are typed, and those of a template are not the form’s', () => {
  const problems = (draft: object, iam = false) => {
    const { error } = roleSchema('postgres', iam).safeParse({ ...roleDraftOf(undefined, 'postgres'), name: 'app', ...draft });
    return error?.issues.map(({ path, message }) => `${path}: ${message}`) ?? [];
  };
  assert.deepEqual(problems({}), []);
  assert.deepEqual(problems({ template: CUSTOM, creation_sql: own }), []);
  assert.deepEqual(problems({ template: CUSTOM, creation_sql: 'SELECT 1' }), ['creation_sql: must contain {{username}}']);
  assert.deepEqual(problems({ template: CUSTOM, creation_sql: 'SELECT 1' }, true), []);
  assert.deepEqual(problems({ revocation_sql: 'DROP ROLE x' }), ['revocation_sql: must contain {{username}}']);
  assert.deepEqual(problems({ max_ttl_seconds: '10s' }).length, 1);
});

test('the statements of a draft are those of its template, or its own', () => {
  assert.match(creationOf({ template: 'postgres-readonly', creation_sql: own }, 'postgres'), /GRANT SELECT ON ALL TABLES/);
  assert.equal(creationOf({ template: CUSTOM, creation_sql: own }, 'postgres'), own);
});
