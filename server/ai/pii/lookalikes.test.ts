import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { passingConversationKey } from '#server/crypto/pii-keys.ts';
import { detect } from './detect.ts';
import { compilePolicy } from './detectors.fixture.ts';
import { ENTITY_CATALOGUE } from './entities/catalogue.ts';
import { piiSession } from './session.ts';
import { createTokenizer } from './tokenizer.ts';

// What the built-in detectors take for something else, and what they must still find.

const policy = compilePolicy(null, []);
const linesOf = (file: string) =>
  fs
    .readFileSync(new URL(file, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '));
const LOOKALIKES = linesOf('./lookalikes.fixture.txt');
const CASES = linesOf('./true-positives.fixture.txt').map((line) => {
  const [entity = '', value = '', ...text] = line.split('|');
  return { entity, value, text: text.join('|') };
});

/** How many lookalikes a detector may find. None, but for these. */
const BOUNDS: Readonly<Record<string, number>> = {};

const found = (text: string) => detect(text, policy).map(({ entity, start, end }) => ({ entity, value: text.slice(start, end) }));

test('each detector finds no more lookalikes than its bound', () => {
  assert.ok(LOOKALIKES.length >= 250, `${LOOKALIKES.length} lookalikes`);
  const wrong = LOOKALIKES.flatMap((text) => found(text).map(({ entity, value }) => ({ entity, value, text })));
  for (const { entity } of ENTITY_CATALOGUE) {
    const of = wrong.filter((one) => one.entity === entity);
    assert.ok(of.length <= (BOUNDS[entity] ?? 0), `${entity}: ${JSON.stringify(of, null, 1)}`);
  }
});

test('each true value is found whole', () => {
  for (const { entity, value, text } of CASES)
    assert.ok(
      found(text).some((one) => one.entity === entity && one.value === value),
      `${entity} ${value} in ${text}: ${JSON.stringify(found(text))}`,
    );
});

test('a stream says the same, character by character, whatever is around it', () => {
  const before = 'Some words that were there before it, and a few more of them.\n';
  const after = '\nMore words follow until the end of the text, where nothing is held back.';
  const unfound = LOOKALIKES.filter((text) => found(`${before}${text}${after}`).length === 0);
  assert.ok(LOOKALIKES.length - unfound.length <= Object.values(BOUNDS).reduce((sum, bound) => sum + bound, 0));
  for (const text of unfound) assert.equal(streamed(`${before}${text}${after}`), `${before}${text}${after}`);
  for (const { entity, value, text } of CASES) {
    const out = streamed(`${before}${text}${after}`);
    assert.ok(out.includes(`<${entity}>`) && !out.includes(value), `${entity} ${value} in ${text}: ${out}`);
  }
});

/** As it leaves the gateway when every character comes alone. */
function streamed(text: string): string {
  const stream = piiSession({
    policy,
    tokenizer: createTokenizer(passingConversationKey()),
    requestMode: 'tokenize',
    responseMode: 'detokenize',
  }).stream('text');
  return [...text].map((part) => stream.push(part)).join('') + stream.flush();
}
