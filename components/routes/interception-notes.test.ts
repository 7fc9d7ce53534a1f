import assert from 'node:assert/strict';
import test from 'node:test';
import { type Intercepting, interceptionNotes, type Listed } from './interception-notes.ts';

const route = (over: Partial<Intercepting> = {}): Intercepting => ({
  ...{ id: 'own', slug: 'hubspot', enabled: true, target: 'https://api.hubapi.com/crm/v3/', requiresClients: false },
  ...over,
});
const listed = (over: Partial<Listed> = {}): Listed => ({
  ...{ route_id: 'other', slug: 'crm', host: 'api.hubapi.com', base_path: '/crm/v3' },
  ...over,
});
const titles = (one: Intercepting, all: Listed[] = []) => interceptionNotes(one, all).map(({ title }) => title);

test('a route that SDKs can match has nothing to be warned of', () => {
  assert.deepEqual(titles(route(), [listed({ base_path: '/' }), listed({ route_id: 'own' })]), []);
});

test('what keeps a route out of the list for SDKs is said instead of anything else', () => {
  for (const over of [
    { slug: null },
    { enabled: false },
    { target: 'https://{{secret:HOST}}/v1' },
    { target: 'https://api.hubapi.com:8443/v1' },
    { target: 'https://203.0.113.7/v1' },
    { target: 'https://[2001:db8::1]/v1' },
  ])
    assert.deepEqual(titles(route({ ...over, requiresClients: true })), ['SDKs can’t use this route'], JSON.stringify(over));
});

test('required clients, a variable host and a second route for the same place are warned of', () => {
  assert.deepEqual(titles(route({ requiresClients: true })), ['Calls without a registered client are refused']);
  assert.deepEqual(titles(route({ target: 'https://{{var:host}}/v1' })), ['The host comes from a variable']);
  const [note] = interceptionNotes(route(), [listed()]);
  assert.equal(note?.title, 'Another route covers the same host and path');
  assert.match(note?.text ?? '', /crm, hubspot: crm\./);
});
