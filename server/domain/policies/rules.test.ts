import assert from 'node:assert/strict';
import test from 'node:test';
import type { PolicyCaller } from '#server/kernel/policy-callers.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { targetOf } from './narrowing.shared.ts';
import { bindingRules, coversResource, globMatches, indexRules, type Rule } from './rules.shared.ts';

const rule = (given: Partial<Rule>): Rule => ({
  id: 'r',
  name: 'r',
  actions: ['route:read'],
  subjects: { all: true },
  resources: [],
  space: 'both',
  ...given,
});
const bound = (given: Partial<Rule>, caller: PolicyCaller = {}, space: 'live' | 'test' = 'live') =>
  bindingRules(indexRules([rule(given)]), 'route:read', [caller], space).length > 0;

test('a rule matches its exact capability or the family of it, and nothing else', () => {
  assert.ok(bound({ actions: ['route:read'] }));
  assert.ok(bound({ actions: ['route:*'] }));
  for (const action of ['route:list', 'routes:*', 'rout:*', '*:*', 'proxy:*', 'route:readx'])
    assert.ok(!bound({ actions: [action] }), action);
});

test('a rule binds exactly its subjects', () => {
  const callers: Record<string, PolicyCaller> = {
    editor: { role: 'editor', user_id: 'u1' },
    viewer: { role: 'viewer', user_id: 'u2' },
    key: { api_key_id: 'k1', key_role_ids: ['kr1'] },
    client: { oauth_client_id: 'c1' },
    nobody: {},
  };
  const bindsOnly = (subjects: Rule['subjects'], expected: string[]) =>
    assert.deepEqual(
      Object.keys(callers).filter((name) => bound({ subjects }, callers[name])),
      expected,
      JSON.stringify(subjects),
    );
  bindsOnly({ all: true }, Object.keys(callers));
  bindsOnly({ roles: ['editor'] }, ['editor']);
  bindsOnly({ roles: ['kr1'] }, ['key']);
  bindsOnly({ user_ids: ['u2'] }, ['viewer']);
  bindsOnly({ api_key_ids: ['k1'] }, ['key']);
  bindsOnly({ oauth_client_ids: ['c1'] }, ['client']);
  bindsOnly({ roles: ['viewer'], api_key_ids: ['k1'] }, ['viewer', 'key']);
  // An ID is one of its own kind only.
  bindsOnly({ user_ids: ['k1'], api_key_ids: ['c1'], oauth_client_ids: ['u1'] }, []);
  bindsOnly({}, []);
});

test('a rule holds in its space', () => {
  for (const space of ['live', 'test'] as const) {
    assert.ok(bound({ space: 'both' }, {}, space));
    assert.ok(bound({ space }, {}, space));
    assert.ok(!bound({ space: space === 'live' ? 'test' : 'live' }, {}, space));
  }
});

test('a resource is named by its ID or by a glob of one of its names, in either case', () => {
  const covers = (resources: string[], id: string | undefined, ...names: string[]) => coversResource({ resources }, { id, names });
  assert.ok(covers([], 'a'));
  assert.ok(covers(['0199-A'], '0199-a'));
  assert.ok(covers(['prod-*'], 'x', 'prod-orders'));
  assert.ok(covers(['PROD-*'], 'x', 'other', 'Prod-1'));
  assert.ok(!covers(['prod-*'], 'prod-1'), 'a glob is compared with names');
  assert.ok(!covers(['prod-?'], 'x', 'prod-12'));
  for (const [pattern, name, expected] of [
    ['*', '', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-b-b-d', false],
    ['**', 'x', true],
    ['?', '', false],
    ['a.c', 'abc', false],
    ['[a]', 'a', false],
    ['', '', true],
  ] as const)
    assert.equal(globMatches(pattern, name), expected, `${pattern} ${name}`);
});

test('no pattern makes a comparison slow', async () => {
  const pattern = `${'*a'.repeat(100)}b`;
  await assertGrowsLinearly(
    pattern,
    20_000,
    (size) => 'a'.repeat(size),
    (text) => assert.equal(globMatches(pattern, text), false),
  );
});

test('what a call is about comes from its operation', () => {
  const of = (http: string, kind: string, capability: Parameters<typeof targetOf>[1], input = {}) =>
    targetOf({ http, kind }, capability, input);
  assert.deepEqual(of('GET /routes/{id}', 'read', 'route:read', { id: 'r1' }), { refs: ['r1'], names: [] });
  assert.deepEqual(of('PATCH /routes/{id}', 'change', 'route:update', { id: 'r1', name: 'new' }), { refs: ['r1'], names: ['new'] });
  assert.deepEqual(of('POST /routes', 'change', 'route:create', { name: 'new', slug: 'n' }), { refs: [], names: ['new', 'n'] });
  assert.deepEqual(of('POST /clients/{id}/assignments', 'change', 'route:update', { id: 'c1', route_id: 'r1' }), {
    refs: ['r1'],
    names: [],
  });
  assert.deepEqual(of('POST /clients/{id}/assignments', 'change', 'client:update', { id: 'c1', route_id: 'r1' }), {
    refs: ['c1'],
    names: [],
  });
  assert.deepEqual(of('POST /collections/{id}/routes/{routeId}/reset', 'change', 'route:update', { id: 'c', routeId: 'r' }), {
    refs: ['r'],
    names: [],
  });
  assert.deepEqual(of('POST /admin/routes/{id}/test', 'change', 'proxy:invoke', { id: 'r1' }), { refs: ['r1'], names: [] });
  assert.equal(of('POST /admin/environments/{id}/duplicate', 'change', 'route:update', { id: 'e' }), 'unknown');
  assert.equal(of('POST /admin/import/apply', 'change', 'route:create'), 'unknown');
  assert.equal(of('GET /routes', 'read', 'route:list'), undefined);
});
