import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { compileHeuristic } from '#server/ai/firewall/policy.ts';
import { linearPattern } from '#server/ai/patterns/linear-pattern.ts';
import { compileRecognizers } from '#server/ai/pii/recognizer.ts';
import { schemaPattern } from '#server/ai/schema/patterns.ts';
import { run as deny } from '#server/domain/migrations/denying.thread.ts';
import { compileRules } from '#server/mcp/argument-rules.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { compilePattern, FLAGS, searchWork, UnsupportedPattern } from './compile.ts';
import { unordered } from './hostile.fixture.ts';

/** Each takes the compiler hundreds of milliseconds, in 500 characters. */
const SLOW = {
  'wide ranges without case': `(?i)[${'B-\u{1e942}'.repeat(120)}]`,
  'wide ranges by their numbers': `(?i)${'[\\x{42}-\\x{1e942}]'.repeat(24)}`,
  'numbers with many zeros': `(?i)${'[\\x{42}-\\x{00000001e942}]'.repeat(18)}`,
  'flags with others': `(?s)a(?mi:${'[B-\\x{1e942}]'.repeat(30)})`,
  'hundreds of Unicode classes': `(?i)[${'\\pL'.repeat(160)}]`,
  'nested repetitions': '((((a{10}){10}){10}){10}){10}',
};

/** Everything that compiles what others wrote: why it refuses the pattern, or undefined. */
const DOORS: Record<string, (pattern: string) => unknown> = {
  recognizers: (pattern) =>
    refusal(() =>
      compileRecognizers([{ id: '', name: 'x', kind: 'regex', pattern, context_words: [], confidence: 1, action: 'redact', format: null }]),
    ),
  'firewall rules': (pattern) => refusal(() => compileHeuristic({ name: 'x', kind: 'regex', pattern })),
  'JSON Schemas': (pattern) => ((found) => (typeof found === 'string' ? found : undefined))(schemaPattern(pattern)),
  'rules about arguments': (pattern) => refusal(() => compileRules([{ path: '$.a', op: 'matches', value: pattern }])),
  'denylists of migrations': (pattern) =>
    ((judged) => ('problem' in judged ? judged.problem : undefined))(deny({ patterns: [{ pattern, kind: 'regex' }], entries: [] })),
};

function refusal(compile: () => unknown): string | undefined {
  try {
    compile();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

for (const [door, refused] of Object.entries(DOORS))
  test(`no pattern takes the compiler long: ${door}`, () =>
    neverBlocks(async () => {
      for (const [what, pattern] of Object.entries(SLOW)) {
        assert.match(String(refused(pattern)), /^(?:takes too long to compile|is too large)/, what);
        await setTimeout(1);
      }
    }));

test('a flag beside the pattern counts as one in it', () => {
  assert.throws(() => compilePattern('[B-\\x{1e942}]'.repeat(10), FLAGS.ignoreCase), /takes too long to compile/);
  assert.throws(() => linearPattern('[B-\\x{1e942}]'.repeat(10), { ignoreCase: true }), UnsupportedPattern);
  assert.doesNotThrow(() => compilePattern('[B-\\x{1e942}]'.repeat(10)));
});

test('usual patterns are compiled, whatever they are about', () => {
  for (const pattern of [
    ...['(?i)\\b(drop|delete)\\s+table\\b', '^[\\p{L}\\p{M} ._-]{1,80}$', '(?i)[^\\x00-\\x7f]+', '(?i)[\\x{80}-\\x{10ffff}]'],
    ...['^[0-9]{3}-[0-9]{2}-[0-9]{4}$', '(?:https?://)?[a-z0-9.-]+(?::\\d{1,5})?(?:/\\S*)?', '[\\x{0}-\\x{10ffff}]*x'],
  ])
    assert.doesNotThrow(() => compilePattern(pattern), pattern);
});

test('what is said to take 5 ms does: ten such searches fit a turn of the loop', async () => {
  const text = unordered(50_000);
  for (const pattern of [
    ...['[ab]*a[ab]{16}$', '(a|b)*a(a|b){300}$', '[ab]*a[ab]{4}$', '(?:[ab]{1,40}b){10}$', `(?i)${'[B-\\x{1b00}]'.repeat(8)}c`],
    ...[`(?:a?){${400}}c`, `(?i)${'\\pL'.repeat(14)}c`, '(a+)+$', '.*.*.*.*c'],
  ]) {
    let characters = text.length;
    while (searchWork(pattern, characters) > 5_000 && characters > 0) characters -= 50;
    const part = text.slice(0, characters);
    await neverBlocks(async () => {
      for (let n = 0; n < 10; n++) compilePattern(pattern).test(part);
      await setTimeout(1);
    });
  }
});
