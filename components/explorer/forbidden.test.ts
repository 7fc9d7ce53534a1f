import assert from 'node:assert/strict';
import test from 'node:test';
import { forbiddenTo } from '#components/roles/forbidden-to.ts';
import { operations } from '#server/api/operations.ts';
import { type Capability, MEMBER_ROLES, memberCapabilities } from '#server/kernel/capabilities.ts';
import { forbiddenCall } from './forbidden.ts';

test('the explorer offers to send exactly what the role may do, for every role and operation', () => {
  for (const op of operations) {
    const needs = Array.isArray(op.needs) ? (op.needs as Capability[]) : [];
    for (const role of MEMBER_ROLES) {
      const held = memberCapabilities(role, { reveal_secrets: false });
      assert.equal(
        forbiddenCall(role, { needs }) === undefined,
        needs.every((one) => held.has(one)),
        `${role} ${op.id}`,
      );
    }
  }
});

test('a refused control names the roles that could, from the table that decides', () => {
  assert.equal(forbiddenTo('editor', 'route:create'), undefined);
  assert.match(forbiddenTo('viewer', 'route:create') ?? '', /^Requires the Owner, Admin, or Editor role\. Your role is Viewer\./);
  assert.match(forbiddenTo('editor', 'account:update') ?? '', /^Requires the Owner or Admin role\./);
});
