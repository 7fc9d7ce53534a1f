import assert from 'node:assert/strict';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { fitText } from './texts.ts';

const fit = (text: string, passwords: string[] = [], names: string[] = []) =>
  fitText(text, { names: new Set(names), passwords: new Set(passwords) });
const PASSWORD = 'Aa0-bcdefghijklmnopqrstuvwxyz_01';

test('a password is struck out whole, in parts from its start, middle or end, in URLs and in SQL', () => {
  assert.equal(fit(`near '${PASSWORD}' at`, [PASSWORD]), "near '***' at");
  assert.equal(fit(`near '${PASSWORD.slice(0, 12)}`, [PASSWORD]), "near '***");
  assert.equal(fit(`${PASSWORD.slice(10, 25)} and ${PASSWORD.slice(-8)}`, [PASSWORD]), '*** and ***');
  assert.equal(fit(`${PASSWORD}${PASSWORD}`, [PASSWORD]), '***');
  assert.equal(fit("it''s a p@ss and it%27s%20a%20p%40ss", ["it's a p@ss"]), '*** and ***');
  assert.equal(fit('C:\\\\secret\\\\word', ['C:\\secret\\word']), '***');
  assert.equal(fit('abc is short', ['abc']), '*** is short');
  assert.equal(fit('nothing to see', [PASSWORD, '']), 'nothing to see');
  assert.equal(fit(`half \ud800 ${PASSWORD}`, [`${PASSWORD}`, '\ud800x\ud800']), 'half \ud800 ***');
});

test('a name is struck out as a word and not inside of one', () => {
  assert.equal(fit("user 'sa'@'x' of sales, sa_x", [], ['sa']), "user '***'@'x' of sales, sa_x");
  assert.equal(fit('svc_readonly_aaaaaaaaaa_t8aeo0 of svc_readonly', [], ['svc_readonly', 'svc_readonly_aaaaaaaaaa_t8aeo0']), '*** of ***');
});

test('a text of any length becomes one line of at most 500 characters, and is cut behind what is struck out', async () => {
  assert.equal(fit('a\r\nb\t\u0000c\u2028d\u202ee'), 'a b c d e');
  const text = fit(`${'x'.repeat(490)}${PASSWORD}`, [PASSWORD]);
  assert.equal(text, `${'x'.repeat(490)}***`);
  assert.ok(!fit(`${'x'.repeat(3_995)}${PASSWORD}`, [PASSWORD]).includes('Aa0'));
  assert.equal(fit('ab'.repeat(5_000_000), ['ab'.repeat(60)]).length <= 500, true);
  await assertGrowsLinearly(
    'struck out',
    200_000,
    (size) => 'ab'.repeat(size / 2),
    (long) => fit(long, ['ab'.repeat(60)]),
  );
});
