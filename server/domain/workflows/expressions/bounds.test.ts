import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { unordered } from '#server/ai/patterns/hostile.fixture.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { matchesPattern } from '../nodes/matching.ts';
import { holds, parseCondition } from './condition.shared.ts';
import { jsonOf } from './filters.shared.ts';
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
        return repeatedly(1_000, () => satisfies(left, operator, right, { matches: async () => false, meter }));
      }),
    ),
  ));

const WORST = '[ab]*a[ab]{16}$';
/** Patterns whose automaton has a new state at every character, or that take long to compile. */
const PATTERNS = [
  ...['(a|b)*a(a|b){300}$', '(a|b)*a(a|b){30}$', WORST, '(?:[ab]{1,40}b){10}$', '(a+)+$', '^(?:(a)|(b))*$'],
  ...[
    `(?i)${'\\pL'.repeat(60)}`,
    `(?i)${'\\pL'.repeat(160)}`,
    `(?i)[${'B-\u{1e942}'.repeat(120)}]`,
    `${'[ab]'.repeat(120)}$`,
    '[ab]*a[ab]{4}$',
  ],
];
const search = (pattern: string, text: string, meter = newMeter()) => matchesPattern(pattern, text, meter, 'workspace');

test('patterns with endless states of their automaton are searched without blocking, or refused with the next step', async () => {
  await neverBlocks(async () => {
    for (const pattern of PATTERNS)
      for (const length of [16, 200, 1_000, 8_000, ...(pattern === WORST ? [256 * 1024] : [])])
        await search(pattern, unordered(length)).catch((error: Error) =>
          assert.match(
            `${error}`,
            /^TooLarge: this pattern takes too long to search \d+ characters|^LinearMismatch: the pattern takes too long to compile/,
          ),
        );
  });
});

test('searches of one step together have a limit, and each small one has a turn of its own', async () => {
  const meter = newMeter();
  await neverBlocks(() => Promise.all(Array.from({ length: 60 }, () => search(WORST, unordered(700), meter))));
  meter.searching = 0;
  await assert.rejects(search('a', 'a', meter), /^TooLarge: the patterns of this step take longer than 10 seconds.*use fewer/);
});

test('an ordinary pattern searches 256 KiB of text and more, as often as a step has such rules', async () => {
  const text = `${'"id": 12345, "status": "completed", '.repeat(20_000)}"status": "failed"`;
  const meter = newMeter();
  for (const [pattern, found] of [
    ['"status":\\s*"(failed|error)"', true],
    ['(?i)\\b(refused|declined by [a-z]{2,12})\\b', false],
  ] as const)
    for (const length of [27_001, 256 * 1024, text.length])
      assert.equal(await search(pattern, text.slice(-length), meter), found, `${pattern} in ${length}`);
  await assert.rejects(search('a', 'a'.repeat(1024 * 1024 + 1)), /^LinearMismatch: a pattern can search at most 1 MiB of text: use a part/);
});

test('what an ordinary step does is far from the bounds', async () => {
  const orders = Array.from({ length: 5_000 }, (_, i) => ({ id: `order-${i}`, amount: i, city: 'Köln' }));
  const meter = newMeter();
  const value = { all: '{{orders.body}}', count: '{{orders.body | length}}', first: 'Hello {{orders.body[0].city | upper}}' };
  await neverBlocks(async () => evaluateValue(value, { scope: () => ({ body: orders }), hash: String, meter }));
  for (let n = 0; n < 50; n++) assert.equal(await search('^order-[0-9]+$', `order-${n}`, meter), true);
  assert.ok(meter.left > 4_000_000 && meter.searching > 9_900, JSON.stringify(meter));
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

test('a list of 250 rows of 300 members each can be written, as the body of a request is', async () => {
  const meter = newMeter();
  const written = await neverBlocks(async () => jsonOf(HOSTILE.rows, meter));
  assert.equal((JSON.parse(written) as unknown[]).length, 250);
  assert.throws(() => jsonOf(members(75_000), newMeter()), TooLarge, 'one object of as many members takes several times as long');
});
const members = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`name${i}`, i]));

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
