import assert from 'node:assert/strict';
import test from 'node:test';
import { describeAccess, type Entrance, keyMay, roleMay } from './access-text.ts';

const open: Entrance = {
  environment: 'staging',
  off: null,
  requires_clients: false,
  clients: [],
  client_count: 0,
  client_count_able: 0,
  methods: null,
  addresses: [],
};
const said = (more: Partial<Entrance>, strict = false) => describeAccess({ ...open, ...more }, strict);

test('an entrance that lets nobody in is told as such, with the one thing that shuts it', () => {
  for (const more of [
    { off: 'route' },
    { off: 'environment' },
    { methods: [] },
    { requires_clients: true },
    { requires_clients: true, client_count: 2 },
  ] as const satisfies Partial<Entrance>[]) {
    const { nobody, text } = said({ ...more });
    assert.ok(nobody && text.startsWith('No one: '), text);
  }
  assert.equal(said({ off: 'route', requires_clients: true }).text, 'No one: the route is disabled.');
});

test('who gets in is told with every rule that holds beside it, and that a client may do without a key unless the workspace asks for one', () => {
  assert.equal(said({}).text, 'Any key that can call routes.');
  assert.equal(
    said({ methods: ['GET', 'POST', 'PUT'], addresses: ['10.0.0.0/8'] }).text,
    'Any key that can call routes, from 10.0.0.0/8, using GET, POST and PUT.',
  );
  const clients = { requires_clients: true, client_count: 3, client_count_able: 2 };
  assert.equal(said(clients).text, 'Only 2 assigned clients, with or without a key.');
  assert.equal(said({ ...clients, client_count_able: 1 }, true).text, 'Only one assigned client, with a key that can call routes.');
});

test('roles and keys are told by what they may do, and those who may nothing by that', () => {
  const person = { role: 'editor' as const, count: 1, names: ['Ada'], sees: 'all' as const, changes: true, tests: true, sets_values: true };
  assert.equal(
    roleMay(person),
    'View everything except secret values, change routes, clients and variables, set secret values and send test calls.',
  );
  assert.equal(
    roleMay({ ...person, changes: false, tests: false, sets_values: false }),
    'View everything except secret values; no changes.',
  );
  assert.equal(roleMay({ ...person, sees: 'names' }), 'View names and logs.');
  const key = { id: '', name: '', key_prefix: '', calls: true, changes: true, addresses: [] };
  assert.deepEqual([key, { ...key, changes: false }, { ...key, calls: false }, { ...key, calls: false, changes: false }].map(keyMay), [
    'Can call and change routes',
    'Can call routes',
    'Can change routes, but not call them',
    'Can’t call or change routes',
  ]);
});
