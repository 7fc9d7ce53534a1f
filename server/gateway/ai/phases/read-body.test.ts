import assert from 'node:assert/strict';
import test from 'node:test';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { parseMessage } from './read-body.ts';

const MIB = 1024 * 1024;
const repeated = (piece: string, size = 10 * MIB - 20) => `{"a":[${piece.repeat(Math.floor(size / piece.length))}1]}`;

const OVER: Record<string, string> = {
  'brackets without end': '['.repeat(10 * MIB),
  'empty lists': repeated('[],'),
  'empty objects': repeated('{},'),
  numbers: repeated('1,'),
  members: `{${Array.from({ length: 800_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
  levels: `${'['.repeat(201)}${']'.repeat(201)}`,
};
for (const [what, text] of Object.entries(OVER))
  test(`a message with too many ${what} is refused before it is parsed`, async () => {
    const read = await neverBlocks(() => parseMessage(Buffer.from(text)));
    assert.match(typeof read === 'string' ? read : '', /must not (?:have more than|be nested deeper than)/);
  });

test('a message with too many numbers that a double would change is refused beside a loop that goes on', async () => {
  const read = await neverBlocks(() => parseMessage(Buffer.from(repeated('1.10,', 5 * 299_000))));
  assert.match(typeof read === 'string' ? read : '', /Too many numbers/);
});

const MOST: Record<string, string> = {
  escapes: `{"a":"${'\\u0041'.repeat((10 * MIB) / 6 - 2)}"}`,
  'as many members as may be': `{${Array.from({ length: 49_990 }, (_, i) => `"k${i}":"${'x'.repeat(190)}"`).join(',')}}`,
  'as many numbers with digits of their own as may be': repeated('1.10,', 5 * 49_990),
  'a list of tokens to embed': repeated('12345,', 6 * 299_000),
};
for (const [what, text] of Object.entries(MOST))
  test(`the largest message is read beside a loop that goes on: ${what}`, async () => {
    assert.equal(typeof (await neverBlocks(() => parseMessage(Buffer.from(text)))), 'object');
  });
