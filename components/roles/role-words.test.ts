import assert from 'node:assert/strict';
import test from 'node:test';
import { operations } from '#server/api/operations.ts';
import { keyCapabilities, type MemberRole, memberCapabilities, ROLE_MATRIX } from '#server/kernel/capabilities.ts';
import { listedOperations } from '#server/trpc/listed-operations.ts';
import { familiesOf, KEY_ROLE_LIST, MEMBER_ROLE_LIST, whoMay } from './role-words.ts';

const families = familiesOf(listedOperations());
const acts = families.flatMap((family) => family.acts);

test('every operation with a right is told under each capability it needs, in its own words', () => {
  for (const op of operations)
    if (Array.isArray(op.needs))
      for (const need of op.needs)
        assert.ok(acts.find((act) => act.capability === need)?.words.includes(op.summary), `${op.id} under ${need}`);
});

test('a role is told to hold exactly what authorisation lets it do', () => {
  for (const { capability } of acts) {
    for (const row of MEMBER_ROLE_LIST)
      assert.equal(
        row.grants(capability) !== 'no',
        memberCapabilities(row.id as MemberRole, { reveal_secrets: false }).has(capability),
        `${row.name} ${capability}`,
      );
    for (const row of KEY_ROLE_LIST)
      assert.equal(row.grants(capability) === 'yes', keyCapabilities([row.id]).has(capability), `${row.name} ${capability}`);
  }
});

test('nothing is told that cannot be done here, and each thing that can has somebody who may', () => {
  const needed = new Set(operations.flatMap((op) => (Array.isArray(op.needs) ? op.needs : [])));
  for (const { capability, words } of acts) {
    assert.ok(needed.has(capability) || capability === 'proxy:invoke' || capability === 'log:read_identity', capability);
    assert.ok(words.length > 0);
    assert.ok(whoMay(capability, MEMBER_ROLE_LIST).includes('Owner'), capability);
  }
  assert.ok(acts.length < ROLE_MATRIX.size);
});
