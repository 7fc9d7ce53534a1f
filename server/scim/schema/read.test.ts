import assert from 'node:assert/strict';
import test from 'node:test';
import { ScimProblem, type ScimType } from '../problem.ts';
import { oauthClientType } from './oauth-client.ts';
import { readResource, type ScimObject } from './read.ts';
import { ENTERPRISE_URN, USER_URN, userType } from './user.ts';

const user = (body: ScimObject) => readResource({ schemas: [USER_URN], userName: 'ann@acme.com', ...body }, userType);
const refused = (scimType: ScimType, read: () => unknown, message?: string) =>
  assert.throws(read, (error) => error instanceof ScimProblem && error.status === 400 && error.scimType === scimType, message);

test('keeps what is stored and drops what is only accepted', () => {
  const read = readResource(
    {
      schemas: [USER_URN, ENTERPRISE_URN],
      id: 'mine',
      meta: { resourceType: 'User' },
      externalId: 'AbC',
      USERNAME: 'Ann@acme.com',
      name: { givenName: 'Ann', familyName: 'Lee', formatted: 'Ann Lee', middleName: null },
      displayName: '',
      active: 'True',
      emails: [
        { value: 'ann@acme.com', type: 'work', primary: true, display: 'x' },
        { type: 'home', value: null },
      ],
      title: 5,
      preferredLanguage: 'de',
      addresses: [{ type: 'work', country: 'DE', formatted: 'x' }],
      phoneNumbers: [{ type: 'fax', value: '1' }],
      roles: [],
      groups: [],
      nickName: null,
      [ENTERPRISE_URN]: { employeeNumber: '7', manager: 'boss', department: 'D' },
    },
    userType,
  );
  assert.deepEqual(read, {
    externalId: 'AbC',
    userName: 'Ann@acme.com',
    name: { givenName: 'Ann', familyName: 'Lee', formatted: 'Ann Lee' },
    active: true,
    emails: [{ value: 'ann@acme.com', type: 'work', primary: true }],
  });
});

test('an attribute there is no place for is refused, unless it says nothing', () => {
  for (const name of [
    'nickName',
    'locale',
    'timezone',
    'profileUrl',
    'userType',
    'password',
    'password2',
    'department',
    '__proto__',
    'name.givenName',
  ])
    refused('invalidPath', () => user(JSON.parse(`{"${name}": "x"}`)), name);
  for (const name of ['ims', 'photos', 'entitlements', 'roles', 'x509Certificates', 'groups'])
    refused('invalidPath', () => user({ [name]: [{ value: 'x' }] }), name);
  for (const body of [
    { name: { middleName: 'M' } },
    { emails: [{ value: 'a@b.c', verified: true }] },
    { 'urn:example:custom': {} },
    { unknown: null },
    { schemas: [USER_URN, 'urn:example:custom'] },
    { [ENTERPRISE_URN]: { active: false } },
    { [ENTERPRISE_URN]: { floor: null } },
  ])
    refused('invalidPath', () => user(body), JSON.stringify(body));
});

test('values of the wrong type, too long or too many are refused', () => {
  for (const body of [
    { userName: 5 },
    { userName: '' },
    { userName: ' ' },
    { userName: null },
    { userName: 'a'.repeat(255) },
    { active: 'maybe' },
    { active: 1 },
    { name: 'Ann' },
    { name: [] },
    { emails: { value: 'a@b.c' } },
    { emails: ['a@b.c'] },
    { emails: [{ value: 'a@b.c', primary: 'yes' }] },
    { emails: Array.from({ length: 101 }, (_, i) => ({ value: `${i}@b.c` })) },
    {
      emails: [
        { value: 'a@b.c', primary: true },
        { value: 'b@b.c', primary: true },
      ],
    },
    { externalId: 'x'.repeat(256) },
    { [ENTERPRISE_URN]: 'x' },
  ])
    refused('invalidValue', () => user(body), JSON.stringify(body).slice(0, 80));
  for (const body of [{ schemas: [] }, { schemas: USER_URN }, { schemas: [ENTERPRISE_URN] }, { schemas: undefined }, { username: 'twice' }])
    refused('invalidSyntax', () => user(body), JSON.stringify(body));
});

test('a client says its name, lists of texts and flags, and has its read-only attributes ignored', () => {
  const schemas = [oauthClientType.schema.id];
  assert.deepEqual(
    readResource(
      {
        schemas,
        clientName: 'CI',
        clientId: 'x',
        grantTypes: ['x'],
        client_secret: 'x',
        allowedScopes: ['routes:read', 'routes:read'],
        active: false,
      },
      oauthClientType,
    ),
    { clientName: 'CI', allowedScopes: ['routes:read'], active: false },
  );
  refused('invalidPath', () => readResource({ schemas, clientName: 'CI', externalId: 'x' }, oauthClientType));
  refused('invalidValue', () => readResource({ schemas }, oauthClientType));
  refused('invalidValue', () => readResource({ schemas, clientName: 'CI', redirectUris: [5] }, oauthClientType));
});
