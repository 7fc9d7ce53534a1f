import assert from 'node:assert/strict';
import test from 'node:test';
import { forbiddenTo } from '#components/roles/forbidden-reason.ts';
import { operations } from '#server/api/operations.ts';
import { MEMBER_ROLES, memberCapabilities } from '#server/kernel/capabilities.ts';
import { isSatisfied } from '#server/kernel/needs.ts';
import { forbiddenCall } from './forbidden.ts';

test('the explorer offers to send exactly what the role may do, for every role and operation', () => {
  for (const op of operations) {
    for (const role of MEMBER_ROLES) {
      const held = memberCapabilities(role, { reveal_secrets: false });
      assert.equal(forbiddenCall(role, op) === undefined, isSatisfied(op.needs, held), `${role} ${op.id}`);
    }
  }
});

test('of several ways to be allowed one is enough', () => {
  const needs = { any: ['policy:list', { all: ['route:list', 'log:list'] }] } as const;
  assert.equal(forbiddenCall('member', { needs }), undefined);
  assert.match(
    forbiddenCall('member', { needs: { all: ['route:list', { any: ['policy:list', 'sso:read'] }] } }) ?? '',
    /Owner or Admin role/,
  );
});

test('a refused control names the roles that could, from the table that decides', () => {
  assert.equal(forbiddenTo('editor', 'route:create'), undefined);
  assert.match(forbiddenTo('viewer', 'route:create') ?? '', /^Requires the Owner, Admin, or Editor role\. Your role is Viewer\./);
  assert.match(forbiddenTo('editor', 'account:update') ?? '', /^Requires the Owner or Admin role\./);
});
