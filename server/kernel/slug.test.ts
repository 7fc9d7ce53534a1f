import assert from 'node:assert/strict';
import test from 'node:test';
import { slugOfName } from './slug.ts';

test('a name keeps its letters in an address, whatever accents they carry, and no hyphen stands at an end', () => {
  for (const [name, slug] of [
    ['Zahlung — Überweisung', 'zahlung-uberweisung'],
    ['Straße & Smørrebrød', 'strasse-smorrebrod'],
    ['ＦＵＬＬ ﬁne', 'full-fine'],
    ['İstanbul', 'istanbul'],
    ['--a__b--', 'a-b'],
    ['支払い', ''],
  ] as const)
    assert.equal(slugOfName(name, 63), slug);
  assert.equal(slugOfName('abcdef ghi', 7), 'abcdef');
  assert.equal(slugOfName(`${'-'.repeat(100_000)}x`, 63), 'x');
});
