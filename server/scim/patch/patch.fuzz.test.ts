import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type ScimPatchOperation, type ScimResource, scimPatch } from 'scim-patch';
import { THOROUGH } from '#server/testing/thorough.ts';
import { ScimProblem } from '../problem.ts';
import type { ScimObject } from '../schema/read.ts';
import { ENTERPRISE_URN, USER_URN, userType } from '../schema/user.ts';
import { applyPatch, type SentOperation } from './patch.ts';

// Generated operations on generated people: where the scim-patch package knows the rules we know, both come to the same person. Anything else is refused
// with a SCIM error, and what is left is always a person that could be stored.

const RUNS = THOROUGH ? 20_000 : 1_000;
const seed = THOROUGH ? Date.now() % 2 ** 31 : 20_261_123;

/** Generated objects have no prototype, which comparison would mind. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const word = fc.constantFrom('ann', 'Ben', 'ä', '%', 'x"y', 'a b');
const address = fc.constantFrom('a@acme.com', 'b@acme.com', 'c@home.org', 'd@home.org');
const name = fc.record({ givenName: word, familyName: word, formatted: word }, { requiredKeys: [] });
const emailTypes = ['work', 'home', 'other'];
/** One email a type, and each address once: whether two are the same value is where implementations differ. */
const emails = fc
  .tuple(fc.subarray(emailTypes), fc.shuffledSubarray(['a@acme.com', 'b@acme.com', 'c@home.org'], { minLength: 3 }))
  .map(([types, values]) => types.map((type, i) => ({ value: values[i] as string, type })));
const person = fc
  .record(
    { userName: word, displayName: word, name, emails, active: fc.boolean(), externalId: word },
    { requiredKeys: ['userName', 'emails', 'name'] },
  )
  .map((one): ScimObject => plain({ schemas: [USER_URN], ...one }));

const set = fc.constantFrom('add', 'replace');
const operation: fc.Arbitrary<SentOperation> = fc.oneof(
  fc.record({ op: set, path: fc.constantFrom('displayName', 'userName', 'externalId', 'name.givenName', 'name.familyName'), value: word }),
  fc.record({
    op: fc.constant('remove'),
    path: fc.constantFrom('displayName', 'externalId', 'name.givenName', 'name.formatted', 'name', 'emails'),
  }),
  fc.record({ op: set, path: fc.constant('active'), value: fc.boolean() }),
  fc.record({ op: set, path: fc.constant('name'), value: name }),
  fc.record({ op: fc.constant('replace'), path: fc.constant('emails'), value: emails }),
  fc.record({ op: set, value: fc.record({ displayName: word, active: fc.boolean(), 'name.familyName': word }, { requiredKeys: [] }) }),
  fc.record({ op: set, path: fc.constantFrom(...emailTypes.map((type) => `emails[type eq "${type}"].value`)), value: address }),
  fc.record({ op: fc.constant('remove'), path: fc.constantFrom(...emailTypes.map((type) => `emails[type eq "${type}"]`)) }),
);

/** Without the members that say nothing. */
function stored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stored);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, inner]) => [key, stored(inner)]);
  return Object.fromEntries(
    members.filter(([, inner]) => inner !== undefined && !(typeof inner === 'object' && Object.keys(inner as object).length === 0)),
  );
}

const outcome = (patch: () => unknown): unknown => {
  try {
    return stored(patch());
  } catch (error) {
    return { refused: (error as { scimCode?: string; scimType?: string }).scimType ?? (error as { scimCode?: string }).scimCode };
  }
};

test('scim-patch comes to the same person', () => {
  let [applied, refused] = [0, 0];
  fc.assert(
    fc.property(person, fc.array(operation, { minLength: 1, maxLength: 5 }), (before, generated) => {
      const operations = plain(generated);
      const ours = outcome(() => applyPatch(before, operations, userType)) as ScimObject;
      const theirs = outcome(() =>
        scimPatch(structuredClone(before) as unknown as ScimResource, structuredClone(operations) as ScimPatchOperation[], {
          mutateDocument: true,
          treatMissingAsAdd: true,
        }),
      ) as ScimObject;
      // scim-patch lets a remove pass that selects nothing; interface rule 23 §2 wants noTarget.
      if (ours.refused === 'noTarget') refused++;
      else if ('refused' in ours || 'refused' in theirs) {
        refused++;
        assert.deepEqual('refused' in ours, 'refused' in theirs, JSON.stringify({ ours, theirs }));
      } else {
        applied++;
        assert.deepEqual(ours, theirs);
      }
    }),
    { numRuns: RUNS, seed },
  );
  assert.ok(applied > RUNS / 2, `${applied} applied, ${refused} refused`);
});

const anything = fc.oneof(
  fc.jsonValue(),
  word,
  address,
  fc.constantFrom(null, true, 'False', [], {}, [{ value: 'x@y.z', primary: true }], { value: 'x', type: 'work' }),
);
const anyPath = fc.oneof(
  fc.constantFrom(
    'userName',
    'name',
    'name.givenName',
    'emails',
    'emails.value',
    'emails.primary',
    'emails[type eq "work"]',
    'emails[type eq "work"].value',
    'emails[not (primary eq true)].primary',
    'emails[value co "a" or type pr].type',
    'active',
    'id',
    'schemas',
    'title',
    'nickName',
    'addresses[type eq "work"].country',
    `${ENTERPRISE_URN}:manager`,
    ENTERPRISE_URN,
    USER_URN,
    'urn:x:y',
  ),
  fc.string({ maxLength: 20 }),
);
const anyOperation = fc.record(
  { op: fc.constantFrom('add', 'Replace', 'REMOVE', 'x', 5), path: anyPath, value: anything },
  { requiredKeys: ['op'] },
);

test('whatever is sent, the result is a person that could be stored, or a SCIM error', () => {
  fc.assert(
    fc.property(person, fc.array(anyOperation, { minLength: 1, maxLength: 4 }), (before, operations) => {
      const untouched = structuredClone(before);
      try {
        assertStorable(applyPatch(before, operations, userType));
      } catch (error) {
        if (!(error instanceof ScimProblem)) throw error;
        assert.ok(error.status === 400 && error.scimType);
      }
      assert.deepEqual(before, untouched);
    }),
    { numRuns: RUNS * 3, seed },
  );
});

function assertStorable({ userName, emails, name, active, ...rest }: ScimObject): void {
  assert.ok(typeof userName === 'string' && userName.trim() !== '' && userName.length <= 254);
  assert.ok(active === undefined || typeof active === 'boolean');
  for (const text of Object.values((name ?? {}) as ScimObject)) assert.ok(typeof text === 'string' && text !== '');
  const list = (emails ?? []) as ScimObject[];
  assert.ok(Array.isArray(list) && list.filter(({ primary }) => primary === true).length <= 1);
  for (const { value, type, primary, ...more } of list) {
    assert.ok(typeof value === 'string' && value !== '' && (type === undefined || typeof type === 'string'));
    assert.ok(primary === undefined || typeof primary === 'boolean');
    assert.deepEqual(more, {});
  }
  for (const key of Object.keys(rest)) assert.ok(['schemas', 'id', 'externalId', 'displayName', 'meta'].includes(key), key);
}
