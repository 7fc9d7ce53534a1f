import assert from 'node:assert/strict';
import test from 'node:test';
import { SPELLINGS } from './encodings.fixture.ts';
import { patientFinder, redactor } from './redaction.ts';
import { ScrubbedText } from './scrubbed-text.ts';

const VALUE = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const MARK = '[redacted:secret:TOKEN]';
const secrets = new Map([['TOKEN', VALUE]]);

/** The text as it leaves, and what had left after each piece. */
async function passed(pieces: readonly (string | Buffer)[], due: 'lines' | 'none' = 'none', values = secrets) {
  const text = new ScrubbedText(patientFinder(values), Math.max(...[...values.values()].map((value) => value.length)));
  const left: string[] = [];
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    const out = await text.push(bytes, due === 'lines' ? bytes.lastIndexOf('\n') + 1 : 0);
    left.push(out?.toString('latin1') ?? 'unsearchable');
  }
  left.push((await text.end())?.toString('latin1') ?? 'unsearchable');
  return { left, whole: left.join(''), changed: text.changed };
}

test('a value that is split between any two pieces is masked once, and nothing of it leaves', async () => {
  const around = ['x'.repeat(300), 'y'.repeat(300)] as const;
  for (const spell of ['plain', 'base64', 'percent', 'JSON', 'hex']) {
    const written = (SPELLINGS[spell] as (typeof SPELLINGS)[string])(VALUE, Buffer.from(VALUE));
    const text = `${around[0]} ${written} ${around[1]}`;
    const expected = redactor(secrets)(Buffer.from(text)).toString('latin1');
    assert.ok(expected.includes(MARK));
    for (let at = 299; at <= 302 + written.length; at += 3) {
      const { whole, changed } = await passed([text.slice(0, at), text.slice(at)]);
      assert.equal(whole, expected, `${spell}, split at ${at}`);
      assert.equal(changed, true);
    }
    assert.equal((await passed(text.match(/[\s\S]{1,7}/g) ?? [])).whole, expected, `${spell} in pieces of seven`);
  }
});

test('a value longer than what waits is masked whole', async () => {
  const long = Array.from({ length: 900 }, (_, i) => `part-${i}-of-it`).join('.');
  const text = `before ${long} after`;
  const { whole } = await passed(text.match(/[\s\S]{1,1000}/g) ?? [], 'none', new Map([['TOKEN', long]]));
  assert.equal(whole, `before ${MARK} after`);
});

test('what holds no value leaves byte for byte', async () => {
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7919) & 0xff));
  const { whole, changed } = await passed([bytes.subarray(0, 70_001), bytes.subarray(70_001)]);
  assert.ok(Buffer.from(whole, 'latin1').equals(bytes));
  assert.equal(changed, false);
});

test('at most four times the longest value waits, and of a line that is due nothing', async () => {
  const { left } = await passed(['a'.repeat(5_000), 'b'.repeat(5_000)]);
  assert.equal(left[0]?.length, 5_000 - 256);
  const { left: lines } = await passed(['data: one\n\n', `data: ${VALUE}\n\n`, 'data: three'], 'lines');
  assert.deepEqual(lines, ['data: one\n\n', `data: ${MARK}\n\n`, '', 'data: three']);
});

test('values beside each other and twice in a row have a mark each', async () => {
  const two = new Map([
    ['A', 'first-value-0123456789'],
    ['B', 'other-value-9876543210'],
  ]);
  const { whole } = await passed(['first-value-0123456789other-value-', '9876543210, ', 'first-value-0123456789'], 'none', two);
  assert.equal(whole, '[redacted:secret:A][redacted:secret:B], [redacted:secret:A]');
});
