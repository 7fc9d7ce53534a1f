import assert from 'node:assert/strict';
import test from 'node:test';
import { failingRoutes, fullLimits } from './attention.ts';

test('a route needs attention when a quarter of at least five calls failed; one that is gone cannot be mended', () => {
  const route = (name: string | null, count: number, errors: number) => ({ route_id: name && `id-${name}`, name, count, errors });
  const told = failingRoutes([route('a', 5, 2), route('b', 4, 4), route('c', 100, 24), route('d', 100, 25), route(null, 10, 10)]);
  assert.deepEqual(
    told.map((one) => one.name),
    ['a', 'd'],
  );
});

test('a limit needs attention from four fifths on, the fullest first', () => {
  const full = fullLimits([
    { key: 'routes', limit: 10, used: 8 },
    { key: 'secrets', limit: 20, used: 15 },
    { key: 'clients', limit: 5, used: 6 },
    { key: 'collections', limit: null, used: 900 },
    { key: 'api_calls', limit: 100, used: null },
    { key: 'agents', limit: 0, used: 0 },
  ]);
  assert.deepEqual(
    full.map((one) => one.key),
    ['clients', 'routes'],
  );
});
