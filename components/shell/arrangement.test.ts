import assert from 'node:assert/strict';
import test from 'node:test';
import { arranged } from './arrangement.ts';

const groups = [
  { id: 'home', items: [{ id: 'home' }] },
  { id: 'gateway', label: 'Gateway', items: [{ id: 'routes' }, { id: 'clients' }] },
  { id: 'secrets', label: 'Secrets', items: [{ id: 'secrets' }] },
  { id: 'observe', label: 'Observe', items: [{ id: 'logs' }, { id: 'audit' }] },
];
const seen = (pins: string[], order: string[]) =>
  arranged(groups, pins, order).map(({ id, items }) => `${id}: ${items.map((one) => one.id)}`);

test('pinned pages stand on top in the order they were pinned, and no page twice', () => {
  assert.deepEqual(seen(['logs', 'secrets'], []), ['pinned: logs,secrets', 'home: home', 'gateway: routes,clients', 'observe: audit']);
});

test('groups that were moved come in their order, those that were not after them, and Home before all', () => {
  assert.deepEqual(seen([], ['observe', 'secrets']), ['home: home', 'observe: logs,audit', 'secrets: secrets', 'gateway: routes,clients']);
});

test('a pin of a page that this role does not see leaves no gap', () => {
  assert.deepEqual(seen(['keys'], ['gone', 'observe'])[0], 'home: home');
});
