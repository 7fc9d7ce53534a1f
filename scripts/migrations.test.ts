import assert from 'node:assert/strict';
import test from 'node:test';
import { families, type Migration, migrationProblems, migrations } from './migrations.ts';

const known = ['platform', 'routes', 'secrets', 'api_keys'];
const create = (name: string, extra = '') =>
  `${extra}CREATE OR REPLACE FUNCTION ${name}(a int) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;`;
const problems = (...all: [string, string][]) =>
  migrationProblems(
    all.map(([name, sql]): Migration => ({ name, sql })),
    known,
  );

test('the migrations of this checkout follow the rules', () => {
  assert.deepEqual(migrationProblems(migrations(), families()), []);
});

test('a new migration names its time and family; those from before need not', () => {
  assert.deepEqual(problems(['20261121000000_initial', ''], ['20261201120000_api_keys_notes', ''], ['20261201120001_platform_x', '']), []);
  for (const name of [
    '20261201120000_notes',
    '20261201120000_Routes_notes',
    '20261201_routes_notes',
    'routes_notes',
    '20261201120000_routes',
    '20261201120000_routes-x',
  ])
    assert.match(problems([name, ''])[0] ?? '', /name it <timestamp>_<family>_<what>/, name);
});

test('two migrations of one timestamp are refused, but for the pairs from before', () => {
  assert.match(problems(['20261201120000_routes_a', ''], ['20261201120000_secrets_b', ''])[0] ?? '', /share the timestamp 20261201120000/);
  assert.deepEqual(problems(['20261121160000_person_preferences', ''], ['20261121160000_trials_apart', '']), []);
});

test('a family replaces, alters and drops its own functions, and those of others only where it says why', () => {
  const first: [string, string] = ['20261201120000_routes_a', create('route_hosts')];
  assert.deepEqual(problems(first, ['20261202120000_routes_b', create('route_hosts')]), []);
  for (const change of [
    create('route_hosts'),
    create('public."Route_Hosts"'),
    'DROP FUNCTION IF EXISTS other, route_hosts;',
    'alter function route_hosts(int) stable;',
  ]) {
    const [found = ''] = problems(first, ['20261202120000_secrets_b', change]);
    assert.match(found, /^prisma\/migrations\/20261202120000_secrets_b (replaces|drops) the function route_hosts of routes/, change);
    assert.deepEqual(problems(first, ['20261202120000_secrets_b', `-- replaces route_hosts: secrets are addresses too\n${change}`]), []);
    assert.equal(problems(first, ['20261202120000_secrets_b', `-- replaces route_hosts:\n${change}`]).length, 1, 'a reason is needed');
  }
  assert.deepEqual(problems(first, ['20261202120000_secrets_b', `-- ${create('route_hosts')}`]), [], 'a comment changes nothing');
});

test('functions from before belong to platform, and a dropped name is free', () => {
  const before: [string, string] = ['20261121000000_search_initial', create('count_rows')];
  assert.equal(problems(before, ['20261201120000_routes_a', create('count_rows')]).length, 1);
  assert.deepEqual(
    problems(before, ['20261201120000_platform_a', 'DROP FUNCTION count_rows;'], ['20261201120001_routes_b', create('count_rows')]),
    [],
  );
});
