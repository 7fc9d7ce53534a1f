import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { matchesPattern } from '../nodes/matching.ts';
import { holds, parseCondition } from './condition.shared.ts';
import { FILTERED, HOSTILE, inLittleMemory, isTooLarge, repeated, SECOND, scope } from './hostile.fixture.ts';
import { newMeter, TooLarge } from './meter.shared.ts';
import { OPERATORS, satisfies } from './rules.shared.ts';
import { evaluateValue } from './template.shared.ts';

/** Does each in a turn of its own: whether it ends by itself or is ended, no turn is too long. */
const bounded = (works: Iterable<() => unknown>) =>
  neverBlocks(async () => {
    for (const work of works) {
      try {
        work();
      } catch (error) {
        if (!(error instanceof TooLarge)) throw error;
      }
      await setTimeout(1);
    }
  });
const repeatedly = (times: number, work: () => unknown) => () => {
  for (let n = 0; n < times; n++) work();
};

for (const name of Object.keys(HOSTILE)) {
  test(`no filter of ${name} blocks the loop, however often a step names it`, () =>
    bounded(FILTERED.flatMap((filter) => [true, false].map((many) => () => isTooLarge(repeated(`{{large.${name}${filter}}}`, many))))));
  test(`no filter of ${name} takes the memory of a process`, async () => {
    assert.ok((await inLittleMemory(name)) > 0);
  });
}

const CONFIGS: Record<string, unknown> = {
  'texts without placeholders': Array.from({ length: 120_000 }, () => 'a'),
  'members without placeholders': Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`a${i}`, 'a'])),
  'empty lists': Array.from({ length: 170_000 }, () => []),
  'short placeholders': Array.from({ length: 60_000 }, () => '{{large.ones[0]|number}}'),
  'long references': Array.from({ length: 9_000 }, () => `{{large${'.a'.repeat(40)}}}`),
  'a text that grows by every filter': `{{large.text${" | replace('a', 'aaaaaaaaaa')".repeat(9)}}}`,
  'pieces that are joined and split in turn': `{{large.text${' | split | join'.repeat(5)}}}`.repeat(190),
  'base64 of base64': `{{large.text${' | base64'.repeat(10)}}}`,
};
for (const [what, config] of Object.entries(CONFIGS))
  test(`${what} in a config as large as any don't block the loop`, () => bounded([() => isTooLarge(config)]));

const NAMES = Object.keys(HOSTILE);
test('expressions that compare large values ten thousand times end', () => {
  const written = NAMES.flatMap((name, i) =>
    [name, NAMES[(i + 1) % NAMES.length]].flatMap((other) => [
      ...['===', '!==', '<', '>='].map((operator) => `large.${name} ${operator} second.${other}`),
      ...['includes', 'startsWith', 'endsWith'].map((method) => `large.${name}.${method}(second.${other})`),
    ]),
  );
  return bounded(
    written.map((text) => {
      const [condition, meter] = [parseCondition(text), newMeter()];
      return repeatedly(10_000, () => holds(condition, scope, meter));
    }),
  );
});

test('rules that compare large values a thousand times end, as a router can have them', () =>
  bounded(
    Object.entries(HOSTILE).flatMap(([name, left]) =>
      OPERATORS.map((operator, i) => {
        const meter = newMeter();
        const right = [SECOND[name], 'x', 5][i % 3];
        return repeatedly(1_000, () => satisfies(left, operator, right, { matches: () => false, meter }));
      }),
    ),
  ));

const PATTERNS = [
  '(a|b)*a(a|b){300}$',
  '(a|b)*a(a|b){30}$',
  '(?:[ab]{1,40}b){10}$',
  '(a+)+$',
  '^(?:(a)|(b))*$',
  `(?i)${'\\pL'.repeat(160)}`,
];
test('patterns with endless states of their automaton are charged before they search', () => {
  const text = Array.from({ length: 64 * 1024 }, (_, i) => (((i * i * 2_654_435_761) >>> 7) & 1 ? 'a' : 'b')).join('');
  return bounded(
    PATTERNS.flatMap((pattern) =>
      [16, 1_000, 8_000, 64 * 1024].map((length) => {
        const [meter, searched] = [newMeter(), text.slice(0, length)];
        return repeatedly(1_000, () => matchesPattern(pattern, searched, meter));
      }),
    ),
  );
});

test('a text that is too long for a pattern is refused with the number that is not', () => {
  const search = (length: number) => matchesPattern('"status":\\s*"(failed|error)"', 'a'.repeat(length), newMeter());
  assert.equal(search(20_000), false);
  assert.throws(() => search(64 * 1024), /^TooLarge: this pattern can search at most 2\d{4} characters of text: make/);
});

test('what an ordinary step does is far from the bounds', async () => {
  const orders = Array.from({ length: 5_000 }, (_, i) => ({ id: `order-${i}`, amount: i, city: 'Köln' }));
  const meter = newMeter();
  const value = { all: '{{orders.body}}', count: '{{orders.body | length}}', first: 'Hello {{orders.body[0].city | upper}}' };
  await neverBlocks(async () => evaluateValue(value, { scope: () => ({ body: orders }), hash: String, meter }));
  for (let n = 0; n < 50; n++) assert.equal(matchesPattern('^order-[0-9]+$', `order-${n}`, meter), true);
  assert.equal(matchesPattern('\\bfailed\\b', 'all is well. '.repeat(2_000), newMeter()), false);
  assert.ok(meter.left > 4_000_000, String(meter.left));
});

test('a reference alone is passed and not charged as if it was written', () => {
  const row = (i: number) => Object.fromEntries(Array.from({ length: 300 }, (_, j) => [`field_${j}`, i]));
  const orders = Array.from({ length: 250 }, (_, i) => row(i));
  const meter = newMeter();
  const template = { one: '{{http.body.orders}}', again: '{{http.body.orders}}', count: '{{http.body.orders | length}}' };
  const value = evaluateValue(template, { scope: () => ({ body: { orders } }), hash: String, meter }) as Record<string, unknown>;
  assert.deepEqual([value.one === orders, value.again === orders, value.count], [true, true, 250]);
  assert.ok(meter.left > 7_990_000, String(meter.left));
});

test('a fault says what was over and what the limit is', () => {
  const fault = (template: unknown) => {
    try {
      evaluateValue(template, { scope, hash: String, meter: newMeter() });
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  assert.match(fault(repeated('{{large.object}}', false)), /more work than 8 million units, the limit: give it/);
  assert.match(fault(`{{large.text | replace('a', '${'b'.repeat(20)}')}}`), /larger than 5 MiB, the limit|more work/);
  assert.match(fault('{{large.deep | json}}'), /more than 500 levels deep, the limit/);
});
