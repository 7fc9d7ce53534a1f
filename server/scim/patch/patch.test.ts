import assert from 'node:assert/strict';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { ScimProblem, type ScimType } from '../problem.ts';
import { oauthClientType } from '../schema/oauth-client.ts';
import type { ScimObject } from '../schema/read.ts';
import { ENTERPRISE_URN, USER_URN, userType } from '../schema/user.ts';
import { applyPatch, type SentOperation } from './patch.ts';

const ann: ScimObject = {
  schemas: [USER_URN],
  id: '7d0f0000-0000-4000-8000-000000000000',
  externalId: 'AbC',
  userName: 'ann@acme.com',
  name: { givenName: 'Ann', familyName: 'Lee' },
  displayName: 'Ann Lee',
  emails: [
    { value: 'ann@acme.com', type: 'work', primary: true },
    { value: 'ann@home.org', type: 'home' },
  ],
  active: true,
  meta: { resourceType: 'User' },
};
const client: ScimObject = {
  schemas: [oauthClientType.schema.id],
  id: '8d0f0000-0000-4000-8000-000000000000',
  clientName: 'CI',
  clientId: 'svcc_x',
  grantTypes: ['client_credentials'],
  allowedScopes: ['routes:read', 'logs:read'],
  active: true,
};

const { emails, ...withoutEmails } = ann;
const patched = (...operations: SentOperation[]) => applyPatch(ann, operations, userType);
const changes = (operation: SentOperation, expected: ScimObject) => {
  const after = { ...ann, ...expected };
  for (const [name, value] of Object.entries(after)) if (value === undefined) delete after[name];
  assert.deepEqual(patched(operation), after, JSON.stringify(operation));
};
const refused = (scimType: ScimType, ...operations: SentOperation[]) =>
  assert.throws(
    () => patched(...operations),
    (error) => error instanceof ScimProblem && error.status === 400 && error.scimType === scimType,
    `${scimType}: ${JSON.stringify(operations).slice(0, 200)}`,
  );

test('single-valued attributes are set, replaced and removed by path', () => {
  changes({ op: 'replace', path: 'displayName', value: 'X' }, { displayName: 'X' });
  changes({ op: 'Add', path: 'DISPLAYNAME', value: 'X' }, { displayName: 'X' });
  changes({ op: 'REMOVE', path: 'displayName' }, { displayName: undefined });
  changes({ op: 'replace', path: 'displayName', value: null }, { displayName: undefined });
  changes({ op: 'replace', path: `${USER_URN}:userName`, value: 'new@acme.com' }, { userName: 'new@acme.com' });
  changes({ op: 'replace', path: 'name.familyName', value: 'Y' }, { name: { givenName: 'Ann', familyName: 'Y' } });
  changes({ op: 'remove', path: `${USER_URN}:name.givenName` }, { name: { familyName: 'Lee' } });
  changes({ op: 'replace', path: 'name', value: { givenName: 'Zoe' } }, { name: { givenName: 'Zoe', familyName: 'Lee' } });
  changes({ op: 'add', path: 'name', value: { givenName: null, formatted: 'Lee' } }, { name: { familyName: 'Lee', formatted: 'Lee' } });
  changes({ op: 'remove', path: 'name' }, { name: undefined });
});

test('active is a boolean, in the spelling of Entra ID too, and is never taken away by omission', () => {
  for (const value of [false, 'False', 'false', 'FALSE']) changes({ op: 'Replace', path: 'active', value }, { active: false });
  changes({ op: 'replace', value: { active: false } }, { active: false });
  changes({ op: 'replace', path: `${USER_URN}:active`, value: false }, { active: false });
  changes({ op: 'remove', path: 'active' }, {});
  for (const value of ['maybe', '', 0, null, {}, [false]]) refused('invalidValue', { op: 'replace', path: 'active', value });
  refused('invalidPath', { op: 'replace', path: `${ENTERPRISE_URN}:active`, value: false });
  refused('invalidPath', { op: 'replace', value: { [`${ENTERPRISE_URN}:active`]: false } });
  refused('invalidPath', { op: 'replace', value: { [ENTERPRISE_URN]: { active: false } } });
});

test('an operation without a path carries attributes, dotted names, paths, URNs and extensions', () => {
  changes(
    {
      op: 'Add',
      value: {
        'name.givenName': 'A',
        displayName: 'D',
        [`${USER_URN}:externalId`]: 'E',
        'emails[type eq "work"].value': 'w@acme.com',
        [`${ENTERPRISE_URN}:department`]: 'D',
        [ENTERPRISE_URN]: { manager: { value: 'x' }, costCenter: 'y' },
        schemas: [USER_URN, ENTERPRISE_URN],
        id: ann.id,
        roles: [],
      },
    },
    {
      name: { givenName: 'A', familyName: 'Lee' },
      displayName: 'D',
      externalId: 'E',
      emails: [
        { value: 'w@acme.com', type: 'work', primary: true },
        { value: 'ann@home.org', type: 'home' },
      ],
    },
  );
  refused('noTarget', { op: 'remove' });
  for (const value of [undefined, null, 'x', [{ displayName: 'x' }]]) refused('invalidValue', { op: 'replace', value });
});

test('emails are merged, replaced, selected and removed', () => {
  const [work, home] = emails as ScimObject[];
  const other = { value: 'o@acme.com', type: 'other' };
  changes({ op: 'add', path: 'emails', value: [other] }, { emails: [work, home, other] });
  changes({ op: 'add', path: 'emails', value: other }, { emails: [work, home, other] });
  changes(
    { op: 'add', path: 'emails', value: [{ value: 'ANN@home.org', type: 'Home' }] },
    { emails: [work, { value: 'ANN@home.org', type: 'Home' }] },
  );
  changes({ op: 'replace', path: 'emails', value: [other] }, { emails: [other] });
  changes({ op: 'replace', path: 'emails', value: [] }, { emails: undefined });
  changes({ op: 'remove', path: 'emails' }, { emails: undefined });
  changes({ op: 'remove', path: 'emails', value: [{ value: 'ann@home.org' }] }, { emails: [work] });
  changes({ op: 'remove', path: 'emails[type eq "HOME"]' }, { emails: [work] });
  changes({ op: 'remove', path: 'emails[value ew "@home.org" or primary eq true]' }, { emails: undefined });
  changes({ op: 'replace', path: 'emails[type eq "home"]', value: other }, { emails: [work, other] });
  changes(
    { op: 'add', path: 'emails[type eq "home"]', value: { value: 'x@home.org' } },
    { emails: [work, { value: 'x@home.org', type: 'home' }] },
  );
  changes(
    { op: 'replace', path: `${USER_URN}:emails[type eq "home"].value`, value: 'x@y.z' },
    { emails: [work, { value: 'x@y.z', type: 'home' }] },
  );
  changes({ op: 'remove', path: 'emails[type eq "home"].type' }, { emails: [work, { value: 'ann@home.org' }] });
  changes({ op: 'remove', path: 'emails[type eq "home"].value' }, { emails: [work] });
  changes({ op: 'replace', path: 'emails.type', value: 'other' }, { emails: [work, home].map((one) => ({ ...one, type: 'other' })) });
  changes({ op: 'replace', path: 'emails[type eq "home"].display', value: 'x' }, {});
});

test('Entra ID creates the work email by setting its value', () => {
  for (const op of ['Add', 'replace'])
    assert.deepEqual(applyPatch(withoutEmails, [{ op, path: 'emails[type eq "work"].value', value: 'n@acme.com' }], userType).emails, [
      { value: 'n@acme.com', type: 'work' },
    ]);
  for (const path of [
    'emails[type eq "other" and primary eq true].value',
    'emails[type eq "other"].primary',
    'emails[type eq "other"]',
    'emails[type ne "work" and type ne "home"].value',
    'emails[value eq "x"].value',
  ])
    for (const op of ['add', 'replace'])
      refused('noTarget', { op, path, value: path.endsWith('primary') ? true : path.endsWith(']') ? { value: 'x' } : 'x' });
  refused('noTarget', { op: 'remove', path: 'emails[type eq "other"]' });
  refused('noTarget', { op: 'remove', path: 'emails[type eq "other"].value' });
});

test('one email is primary', () => {
  changes(
    { op: 'replace', path: 'emails[type eq "home"].primary', value: 'True' },
    {
      emails: [
        { value: 'ann@acme.com', type: 'work', primary: false },
        { value: 'ann@home.org', type: 'home', primary: true },
      ],
    },
  );
  assert.deepEqual(patched({ op: 'add', path: 'emails', value: { value: 'p@acme.com', primary: true } }).emails, [
    { value: 'ann@acme.com', type: 'work', primary: false },
    { value: 'ann@home.org', type: 'home' },
    { value: 'p@acme.com', primary: true },
  ]);
  refused('invalidValue', { op: 'replace', path: 'emails.primary', value: true });
  refused('invalidValue', {
    op: 'add',
    path: 'emails',
    value: [
      { value: 'a@acme.com', primary: true },
      { value: 'b@acme.com', primary: true },
    ],
  });
});

test('what is accepted and not stored changes nothing', () => {
  for (const [path, value] of [
    ['title', 'CEO'],
    ['preferredLanguage', 'de'],
    ['addresses[type eq "work"].formatted', 'x'],
    ['addresses', [{ type: 'work', country: 'DE' }]],
    ['phoneNumbers[type eq "mobile"].value', '1'],
    [`${ENTERPRISE_URN}:manager`, 'boss'],
    [`${ENTERPRISE_URN}:manager`, { value: 'boss' }],
    [`${ENTERPRISE_URN}:manager.displayName`, 'Boss'],
    [`${ENTERPRISE_URN.toUpperCase()}:DEPARTMENT`, 'D'],
    [ENTERPRISE_URN, { department: 'D' }],
    ['roles', []],
    ['name.middleName', null],
  ] as const) {
    changes({ op: 'Add', path, value }, {});
    changes({ op: 'Replace', path, value }, {});
  }
  for (const path of ['title', 'addresses', 'phoneNumbers[type eq "fax"]', `${ENTERPRISE_URN}:manager`])
    changes({ op: 'Remove', path }, {});
});

test('an attribute there is no place for is refused, by path and by key', () => {
  for (const path of [
    'nickName',
    'locale',
    'password',
    'department',
    'name.middleName',
    'name.givenName.x',
    'emails.verified',
    'emails[type eq "work"].verified',
    'emails[verified eq true].value',
    'emails[type eq "work"',
    'emails[]',
    'emails[type eq work].value',
    'emails]type eq "work"[',
    'emails[type eq "work"]value',
    'emails[type eq "work"].',
    'name[givenName eq "x"]',
    'userName[value eq "x"]',
    'urn:example:custom:attribute',
    'urn:ietf:params:scim:schemas:core:2.0:Group:displayName',
    `${ENTERPRISE_URN}:floor`,
    '',
    ' ',
    '__proto__',
    'constructor',
    'a'.repeat(5_000),
  ]) {
    refused('invalidPath', { op: 'replace', path, value: 'x' });
    refused('invalidPath', { op: 'replace', value: JSON.parse(`{${JSON.stringify(path)}: "x"}`) });
    refused('invalidPath', { op: 'remove', path });
  }
  for (const path of [5, {}, ['displayName']]) refused('invalidPath', { op: 'replace', path, value: 'x' });
});

test('what the service decides can be repeated but not changed, and the user name stays', () => {
  changes({ op: 'replace', path: 'id', value: ann.id }, {});
  changes({ op: 'replace', value: { id: ann.id, meta: { resourceType: 'User' }, schemas: [USER_URN], active: false } }, { active: false });
  for (const operation of [
    { op: 'replace', path: 'id', value: 'x' },
    { op: 'replace', path: 'meta.created', value: '2026-01-01T00:00:00Z' },
    { op: 'remove', path: 'id' },
    { op: 'remove', path: 'userName' },
    { op: 'replace', path: 'userName', value: null },
  ])
    refused('mutability', operation);
  refused('invalidPath', { op: 'replace', path: 'schemas', value: ['urn:example:custom'] });
  refused('invalidValue', { op: 'replace', path: 'userName', value: '' });
  refused('invalidValue', { op: 'replace', path: 'userName' });
  refused('invalidValue', { op: 'replace', path: 'userName', value: 5 });
  for (const op of ['move', '', null, undefined, 5]) refused('invalidSyntax', { op, path: 'displayName', value: 'x' });
});

test('operations apply in order, and a failing one leaves the resource as it was', () => {
  const before = structuredClone(ann);
  assert.deepEqual(
    patched(
      { op: 'remove', path: 'emails' },
      { op: 'add', path: 'emails[type eq "work"].value', value: 'x@y.z' },
      { op: 'add', path: 'emails[type eq "work"].primary', value: true },
    ).emails,
    [{ value: 'x@y.z', type: 'work', primary: true }],
  );
  refused(
    'invalidPath',
    { op: 'replace', path: 'displayName', value: 'X' },
    { op: 'remove', path: 'emails' },
    { op: 'replace', path: 'nickName', value: 'x' },
  );
  assert.deepEqual(ann, before);
});

test('lists stay small', () => {
  const many = (from: number) => Array.from({ length: 60 }, (_, i) => ({ value: `${from + i}@acme.com` }));
  refused('invalidValue', { op: 'add', path: 'emails', value: many(0) }, { op: 'add', path: 'emails', value: many(60) });
  refused('invalidValue', { op: 'add', path: 'emails', value: Array.from({ length: 100_000 }, () => ({ value: 'x' })) });
});

test('long lists of long texts are patched in linear time', async () => {
  const operationsOf = (size: number): SentOperation[] => {
    const letters = 'ÄÖÜß'.repeat(size / 4);
    const many = Array.from({ length: 100 }, (_, i) => ({ value: `${letters}${i}`, type: 'work' }));
    const filter = Array.from({ length: 15 }, (_, i) => `value co "${letters}${i}x"`).join(' or ');
    const replace = { op: 'replace', path: 'emails', value: many };
    return [
      replace,
      ...Array.from({ length: 3 }, () => [replace, { op: 'replace', path: `emails[not (${filter})].type`, value: 'x' }]).flat(),
    ];
  };
  await assertGrowsLinearly('letters of each text', 240, operationsOf, (operations) => patched(...operations));
});

test('lists of texts are merged, filtered and removed by value', () => {
  const scopes = (operation: SentOperation) => applyPatch(client, [operation], oauthClientType).allowedScopes;
  assert.deepEqual(scopes({ op: 'add', path: 'allowedScopes', value: ['logs:read', 'agents:read'] }), [
    'routes:read',
    'logs:read',
    'agents:read',
  ]);
  assert.deepEqual(scopes({ op: 'add', path: 'allowedScopes', value: 'agents:read' }), ['routes:read', 'logs:read', 'agents:read']);
  assert.deepEqual(scopes({ op: 'replace', path: 'allowedScopes', value: ['x'] }), ['x']);
  assert.deepEqual(scopes({ op: 'remove', path: 'allowedScopes', value: ['logs:read'] }), ['routes:read']);
  assert.deepEqual(scopes({ op: 'remove', path: 'allowedScopes[value eq "routes:read"]' }), ['logs:read']);
  assert.deepEqual(scopes({ op: 'replace', path: 'allowedScopes[value eq "routes:read"]', value: 'x' }), ['x', 'logs:read']);
  assert.equal(scopes({ op: 'remove', path: 'allowedScopes' }), undefined);
  const mutability = (error: unknown) => error instanceof ScimProblem && error.scimType === 'mutability';
  for (const [path, value] of [
    ['clientId', 'other'],
    ['grantTypes', ['authorization_code']],
    ['clientType', 'public'],
    ['client_secret', 'x'],
  ])
    assert.throws(() => applyPatch(client, [{ op: 'replace', path, value }], oauthClientType), mutability, String(path));
  assert.deepEqual(applyPatch(client, [{ op: 'replace', path: 'grantTypes', value: ['client_credentials'] }], oauthClientType), client);
});

test('a body full of paths is refused at the 251st change, and each text is folded once until then', () => {
  const emails = Array.from({ length: 100 }, (_, i) => ({ value: `${i}${'Äß'.repeat(100)}@a.example`, type: `T${i}` }));
  const value = Object.fromEntries(Array.from({ length: 25_000 }, (_, i) => [`emails[value ne "${i}"].primary`, false]));
  const { normalize } = String.prototype;
  let folded = 0;
  String.prototype.normalize = function (this: string, ...form: [string?]) {
    folded++;
    return normalize.apply(this, form);
  };
  try {
    for (const operation of [
      { op: 'replace', value },
      { op: 'replace', path: USER_URN, value },
    ])
      assert.throws(() => applyPatch({ ...ann, emails }, [operation], userType), { scimType: 'invalidValue', status: 400 });
  } finally {
    String.prototype.normalize = normalize;
  }
  assert.ok(folded >= 200 && folded < 1_000, `folded ${folded} texts; 250 filters of two requests look at a hundred each`);
});
