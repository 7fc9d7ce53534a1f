import assert from 'node:assert/strict';
import test from 'node:test';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { holds, parseCondition } from './condition.shared.ts';
import { newMeter, TooLarge } from './meter.shared.ts';
import { satisfies } from './rules.shared.ts';
import { evaluateValue } from './template.shared.ts';

const KIB = 1024;
/** As large as outputs of nodes are kept. */
const LARGE: Record<string, unknown> = {
  text: 'a,'.repeat(128 * KIB),
  list: Array.from({ length: 60_000 }, () => 1),
  lists: Array.from({ length: 50 }, () => Array.from({ length: 1_000 }, () => 'ab')),
  object: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`name${i}`, i])),
  deep: JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`),
};
const scope = (node: string) => (node === 'large' ? LARGE : undefined);
const evaluate = async (value: unknown) => {
  const meter = newMeter();
  return JSON.stringify(evaluateValue(value, { scope, hash: String, meter }));
};
const over = (work: () => Promise<unknown>) =>
  assert.rejects(
    async () => neverBlocks(work),
    (error: Error) => error instanceof TooLarge || assert.fail(error),
  );

const TEMPLATES: Record<string, unknown> = {
  'a text that grows by every filter': `{{large.text${" | replace('a', 'aaaaaaaaaa')".repeat(9)}}}`,
  'pieces that are joined and split in turn': `{{large.text${' | split | join'.repeat(5)}}}`.repeat(190),
  'a text that is read by two hundred placeholders': '{{large.text | upper}}'.repeat(200),
  'lists of lists as text': '{{large.lists | json}}'.repeat(200),
  'a large value named ten thousand times': Array.from({ length: 10_000 }, () => '{{large.object}}'),
  'names of members, counted again and again': Array.from({ length: 10_000 }, () => '{{large.object | length}}'),
  'a list of numbers that becomes text': Array.from({ length: 1_000 }, () => '{{large.list | join}}'),
  'a value that is deeper than a stack': '{{large.deep | json}}',
  'a text that is escaped': `{{large.text${' | urlencode'.repeat(10)}}}`,
  'base64 of base64': `{{large.text${' | base64'.repeat(10)}}}`,
};
for (const [what, template] of Object.entries(TEMPLATES))
  test(`${what} ends when it was too much work`, () => over(() => evaluate(template)));

test('conditions that compare large values ten thousand times end, too', async () => {
  const meter = newMeter();
  const condition = parseCondition('large.object === large.object2 || large.list.includes("x") || large.text.includes("x")');
  await over(async () => {
    for (let i = 0; i < 10_000; i++) holds(condition, scope, meter);
  });
  const rules = newMeter();
  await over(async () => {
    for (let i = 0; i < 10_000; i++) satisfies('x', 'in', LARGE.text, { matches: () => false, meter: rules });
  });
});

test('what an ordinary step does is far from the bounds', async () => {
  const value = {
    all: '{{large.object}}',
    text: '{{large.text | upper | trim}}',
    sum: ['{{large.list | length}}', '{{large.lists | json}}'],
  };
  assert.ok((await neverBlocks(() => evaluate(value))).length > 500_000);
});
