import assert from 'node:assert/strict';
import test from 'node:test';
import { usd, usdRate } from './amounts.ts';

test('a rate has all its digits, and cents in full', () => {
  const rates: [number, string][] = [
    [0, '$0'],
    [10, '$10'],
    [0.5, '$0.50'],
    [0.1, '$0.10'],
    [12.5, '$12.50'],
    [0.075, '$0.075'],
    [0.000001, '$0.000001'],
    [1_000_000, '$1,000,000'],
  ];
  assert.deepEqual(
    rates.map(([rate]) => usdRate(rate)),
    rates.map(([, text]) => text),
  );
});

test('an amount has cents, and below a cent the digits that say something', () => {
  assert.deepEqual([null, 0, 1234.5, 0.002, 0.0000004].map(usd), ['Unpriced', '$0.00', '$1,234.50', '$0.002', '<$0.000001']);
});
