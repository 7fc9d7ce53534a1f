import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brandOf, expiryFault, grouped, groupedExpiry, numberFault, parsedExpiry, passesLuhn, writtenExpiry } from './card-number.ts';

test('tells brands by their leading digits, at the edges of each range', () => {
  const table: [string, string][] = [
    ['4', 'visa'],
    ['51', 'mastercard'],
    ['55', 'mastercard'],
    ['5', 'unknown'],
    ['2221', 'mastercard'],
    ['2720', 'mastercard'],
    ['2220', 'unknown'],
    ['2721', 'unknown'],
    ['34', 'amex'],
    ['37', 'amex'],
    ['35', 'unknown'],
    ['3528', 'jcb'],
    ['3589', 'jcb'],
    ['3590', 'unknown'],
    ['300', 'diners'],
    ['305', 'diners'],
    ['306', 'unknown'],
    ['36', 'diners'],
    ['6011', 'discover'],
    ['644', 'discover'],
    ['643', 'unknown'],
    ['65', 'discover'],
    ['62', 'unionpay'],
    ['6304', 'maestro'],
    ['', 'unknown'],
  ];
  for (const [digits, brand] of table) assert.equal(brandOf(digits).name, brand, digits);
});

test('accepts the test numbers of every brand and none with one digit changed', () => {
  const numbers = [
    '4242424242424242',
    '5555555555554444',
    '2223003122003222',
    '378282246310005',
    '6011111111111117',
    '3056930009020004',
    '3566002020360505',
    '6200000000000005',
  ];
  for (const number of numbers) {
    assert.equal(numberFault(number), null, number);
    for (let at = 0; at < number.length; at++) {
      const changed = number.slice(0, at) + ((Number(number[at]) + 1) % 10) + number.slice(at + 1);
      assert.equal(passesLuhn(changed), false, changed);
    }
  }
  assert.match(numberFault('') ?? '', /Enter/);
  assert.match(numberFault('42424242') ?? '', /too short/);
  assert.match(numberFault('424242424242424') ?? '', /13, 16 or 19 digits, and this has 15/);
  assert.match(numberFault('4242424242424241') ?? '', /doesn't exist/);
  assert.match(numberFault('0000000000000000') ?? '', /doesn't exist/);
});

test('groups digits as they are printed', () => {
  assert.equal(grouped('4242424242424242'), '4242 4242 4242 4242');
  assert.equal(grouped('378282246310005'), '3782 822463 10005');
  assert.equal(grouped('42424'), '4242 4');
  assert.equal(grouped(''), '');
});

test('reads expiry dates as people write them, and judges them by the month', () => {
  const now = new Date(2026, 10, 23);
  for (const [typed, written] of [
    ['04/29', '04/29'],
    ['0429', '04/29'],
    ['4/29', '04/29'],
    ['04 / 2029', '04/29'],
    ['04-29', '04/29'],
    ['11/26', '11/26'],
  ] as const) {
    const expiry = parsedExpiry(typed);
    assert.equal(expiry && writtenExpiry(expiry), written);
    assert.equal(expiryFault(typed, now), null, typed);
  }
  for (const typed of ['13/29', '00/29', '04', 'abc', '04/1999', '04/2', '']) assert.equal(parsedExpiry(typed), null, typed);
  assert.match(expiryFault('10/26', now) ?? '', /expired/);
  assert.match(expiryFault('12/46', now) ?? '', /20 years/);
  assert.match(expiryFault('13/30', now) ?? '', /month and year/);
});

test('puts the slash in while somebody types and lets them delete it', () => {
  assert.equal(groupedExpiry('1', true), '1');
  assert.equal(groupedExpiry('4', true), '04 / ');
  assert.equal(groupedExpiry('12', true), '12 / ');
  assert.equal(groupedExpiry('12 / 3', true), '12 / 3');
  assert.equal(groupedExpiry('12 / 30', true), '12 / 30');
  assert.equal(groupedExpiry('12 /', false), '12');
  assert.equal(groupedExpiry('1230', true), '12 / 30');
  assert.equal(groupedExpiry('12/2030', true), '12 / 2030');
  assert.equal(groupedExpiry('1/30', true), '01 / 30');
});
