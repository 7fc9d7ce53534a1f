import assert from 'node:assert/strict';
import test from 'node:test';
import type { ResourceType } from '../schema/attribute.ts';
import { oauthClientType } from '../schema/oauth-client.ts';
import type { ScimObject } from '../schema/read.ts';
import { USER_URN, userType } from '../schema/user.ts';
import { project, selectionOf } from './project.ts';

const ann: ScimObject = {
  schemas: [USER_URN],
  id: 'i',
  externalId: 'e',
  userName: 'ann@acme.com',
  name: { givenName: 'Ann', familyName: 'Lee' },
  emails: [{ value: 'ann@acme.com', type: 'work' }, { value: 'ann@home.org' }],
  active: true,
  meta: { resourceType: 'User', created: 'c' },
};
const shown = (query: string, resource: ScimObject = ann, type: ResourceType = userType) =>
  project(resource, selectionOf(new URLSearchParams(query), type), type);
const always = { schemas: ann.schemas, id: ann.id };

test('shows everything, the chosen attributes, or all but the excluded ones', () => {
  assert.deepEqual(shown(''), ann);
  assert.deepEqual(shown('attributes='), ann);
  assert.deepEqual(shown('attributes=USERNAME, active'), { ...always, userName: 'ann@acme.com', active: true });
  assert.deepEqual(shown(`attributes=${USER_URN}:userName,meta.created`), { ...always, userName: 'ann@acme.com', meta: { created: 'c' } });
  assert.deepEqual(shown('attributes=name.givenName,emails.type'), { ...always, name: { givenName: 'Ann' }, emails: [{ type: 'work' }] });
  assert.deepEqual(shown('attributes=name.givenName,name'), { ...always, name: ann.name });
  const { emails, meta, ...rest } = ann;
  assert.deepEqual(shown('excludedAttributes=emails,meta'), rest);
  assert.deepEqual(shown('excludedAttributes=emails.type,name.familyName,name.givenName,meta,externalId,active,userName'), {
    ...always,
    emails: [{ value: 'ann@acme.com' }, { value: 'ann@home.org' }],
  });
  assert.deepEqual(shown('attributes=name,emails&excludedAttributes=emails'), { ...always, name: ann.name });
});

test('id and schemas are always there, and names of nothing choose nothing', () => {
  assert.deepEqual(shown('excludedAttributes=id,schemas,ID'), ann);
  assert.deepEqual(shown('attributes=nickName,urn:example:x,,__proto__,emails[type eq "work"]'), always);
  assert.deepEqual(shown('excludedAttributes=nickName,constructor'), ann);
});

test('the client ID and the secret of a new client are there whatever was asked', () => {
  const client = {
    schemas: [oauthClientType.schema.id],
    id: 'i',
    clientId: 'c',
    client_secret: 's',
    clientName: 'CI',
    allowedScopes: ['routes:read'],
  };
  const { clientName, ...rest } = client;
  const { allowedScopes, ...least } = rest;
  assert.deepEqual(shown('attributes=userName&excludedAttributes=client_secret,clientId', client, oauthClientType), least);
  assert.deepEqual(shown('attributes=allowedScopes.value', client, oauthClientType), rest);
});
