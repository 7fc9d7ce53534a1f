import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutableState, reachableFrom, unsharedState } from './module-state.ts';

const own = (target: string) => ({ target, own: true, type: false, line: 1 });
const route = 'app/v1/route.ts';
const state = 'server/platform/keys.ts';
const found = (source: string, file = state) =>
  unsharedState(
    new Map([
      [route, [own(file)]],
      [file, []],
    ]),
    () => source,
  );

test('finds variables, maps, lists and objects that a module changes', () => {
  for (const source of [
    'let ring: Keyring | undefined;',
    'export let ring = 1;',
    "const cache = new Map<string, number>();\nexport const f = () => cache.set('a', 1);",
    'const open: Set<string> = new Set();\nexport const f = () => open.add("a");',
    'const waiting: string[] = [];\nexport const f = () => waiting.push("a");',
    'const held = { ring: 1 };\nexport const f = () => { held.ring = 2; };',
    'const held = { n: 1 };\nexport const f = () => held.n++;',
    'const held = {};\nexport const f = () => { held.ring ??= 2; };',
  ])
    assert.equal(found(source).length, 1, source);
});

test('constants, local variables, caches by object and shared state pass', () => {
  for (const source of [
    "const KNOWN = new Set(['a']);\nexport const f = (x: string) => KNOWN.has(x);",
    'export function f() {\n  let n = 0;\n  n++;\n}',
    'const derived = new WeakMap<object, number>();\nexport const f = (x: object) => derived.set(x, 1);',
    "const held = processState('keys', () => ({ n: 0 }));\nexport const f = () => held.n++;",
    'const LIMITS = { a: 1 };\nexport const f = (x: number) => LIMITS.a === x;',
  ])
    assert.deepEqual(mutableState(source), [], source);
});

test('checks only server code that a page can reach, however long the way', () => {
  const loads = new Map([
    [route, [own('server/api/handle.ts')]],
    ['server/api/handle.ts', [own(state)]],
    [state, []],
    ['server/gateway/main.ts', [own('server/gateway/core/buffer-pool.ts')]],
    ['server/gateway/core/buffer-pool.ts', []],
  ]);
  assert.deepEqual([...reachableFrom([route], loads)], [route, 'server/api/handle.ts', state]);
  assert.deepEqual(
    unsharedState(loads, (file) => (file === state || file === 'server/gateway/core/buffer-pool.ts' ? 'let n = 0;' : '')).map(
      (one) => one.split(':')[0],
    ),
    [state],
  );
});

test('refuses one name for the state of two modules', () => {
  const other = 'server/platform/db.ts';
  const loads = new Map([
    [route, [own(state), own(other)]],
    [state, []],
    [other, []],
  ]);
  assert.equal(unsharedState(loads, (file) => (file === route ? '' : "const held = processState('x', () => ({}));")).length, 1);
});
