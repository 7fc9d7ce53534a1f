import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { run } from './command.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'expressions-'));
test.after(() => fs.rmSync(folder, { recursive: true }));

async function check(source: string) {
  const file = path.join(folder, 'a.ts');
  fs.writeFileSync(file, source);
  return run(process.execPath, ['scripts/expressions.ts', file]);
}

test('an expression that backtracks fails the check with its place and a text that it is slow on', async () => {
  const { code, output } = await check(
    "export const a = 1;\nconst brackets = /\\]+$/;\nnew RegExp('^(?:a|a)+$', 'i');\nconst comment: string = 'x'.replace(/(^|\\s)#.*$/, '');\n",
  );
  assert.equal(code, 1);
  assert.match(output, /a\.ts:2: \/\\\]\+\$\/ takes 2nd degree polynomial time, for example on '\]'/);
  assert.match(output, /a\.ts:3: \/\^\(\?:a\|a\)\+\$\/i takes exponential time/);
  assert.match(output, /a\.ts:4: .* takes 2nd degree polynomial time/);
});

test('an expression that is built at run time fails the check', async () => {
  const { code, output } = await check('export const made = (words: string[]) => new RegExp(words.join("|"));\n');
  assert.equal(code, 1);
  assert.match(output, /a\.ts:1: write the expression as a literal/);
});

test('linear expressions pass, also with large counts', async () => {
  assert.deepEqual(await check('export const slug = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/; // not /a+$/\n'), { code: 0, output: '' });
});
