import assert from 'node:assert/strict';
import test from 'node:test';
import {
  adds,
  allowsMore,
  allowsMoreAddresses,
  checksLess,
  drops,
  type Looser,
  later,
  loosened,
  losesOne,
  raised,
  replaced,
  turnedOff,
  weaker,
} from './loosening.ts';

test('only settings that are sent and that their rule judges loosen', () => {
  type Settings = { name: string; strict?: boolean; hours: number | null };
  const rules: Looser<Settings> = { name: 'harmless', strict: turnedOff, hours: raised };
  const before = { name: 'a', strict: true, hours: 8 };
  assert.deepEqual(loosened(before, { name: 'b' }, rules), []);
  assert.deepEqual(loosened(before, { strict: false, hours: null }, rules), ['strict', 'hours']);
  assert.deepEqual(loosened(before, { strict: true, hours: 1 }, rules), []);
  // @ts-expect-error a setting without a rule doesn't compile
  const partial: Looser<Settings> = { name: 'harmless', hours: raised };
  assert.ok(partial);
});

test('each rule asks in one direction', () => {
  const day = (n: number) => new Date(n * 86_400_000);
  const cases: [name: string, looser: boolean, tighter: boolean][] = [
    ['raised', raised(1, 2), raised(2, 1)],
    ['raised to none', raised(1, null), raised(null, 1)],
    ['later', later(day(1), day(2)), later(day(2), day(1))],
    ['never', later(day(1), null), later(null, day(1))],
    ['allowsMore', allowsMore(['a'], []), allowsMore([], ['a'])],
    ['allowsMore of another', allowsMore(['a'], ['a', 'b']), allowsMore(['a', 'b'], ['a'])],
    ['addresses', allowsMoreAddresses(['10.0.0.0/16'], ['10.0.0.0/8']), allowsMoreAddresses(['10.0.0.0/8'], ['10.0.0.0/16'])],
    ['any address', allowsMoreAddresses(['10.0.0.0/8'], []), allowsMoreAddresses([], ['10.0.0.0/8'])],
    ['adds', adds([], ['a']), adds(['a'], [])],
    ['drops', drops(['a'], []), drops([], ['a'])],
    ['losesOne', losesOne([{ a: 1 }], [{ a: 2 }]), losesOne([{ a: 1 }], [{ a: 2 }, { a: 1 }])],
    ['replaced', replaced('a', 'b'), replaced(null, 'b')],
    ['checksLess', checksLess('both', 'request'), checksLess('request', 'both')],
    ['checks another half', checksLess('response', 'request'), checksLess('off', 'request')],
    ['weaker', weaker('block', 'warn')('block', 'warn'), weaker('block', 'warn')('warn', 'block')],
  ];
  for (const [name, looser, tighter] of cases) assert.deepEqual([name, looser, tighter], [name, true, false]);
});
