import assert from 'node:assert/strict';
import test from 'node:test';
import { compilePolicy, recognizer } from '#server/ai/pii/detectors.fixture.ts';
import type { PiiRules } from '#server/ai/pii/policy.ts';
import type { Recognizer } from '#server/ai/pii/recognizer.ts';
import { type PiiModes, piiSession } from '#server/ai/pii/session.ts';
import { createTokenizer, MOST_TOKENS } from '#server/ai/pii/tokenizer.ts';
import { passingConversationKey } from '#server/crypto/pii-keys.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { withoutMarkers } from './canary.ts';
import { problemOf, shownMatches } from './checks.ts';
import { scanTexts } from './firewall.ts';
import { type PooledSettings, pooledPii } from './pii.ts';

const MIB = 1024 * 1024;
const MOST_RECOGNIZERS = 500;
const MODES: PiiModes = { requestMode: 'tokenize', responseMode: 'detokenize' };
const PATTERNS = ['MEM-[0-9]{6}', '(?i)project (?:apollo|zeus)', '[A-Z][a-z]+ [A-Z][a-z]+ Ltd', '\\bEMP[0-9]{5}\\b', '(?:x+x+)+y'];
const rulesOf = (recognizers: readonly Recognizer[] = []): PiiRules => ({ builtIns: 'tokenize', recognizers, needsSidecar: false });
const TWENTY = rulesOf(
  Array.from({ length: 20 }, (_, i) =>
    recognizer({ action: 'tokenize', id: `${i}`, name: `own_${i}`, pattern: `${PATTERNS[i % 5] as string}|OWN${i}-[0-9]+` }),
  ),
);
const opened = (rules: PiiRules, changes: Partial<PooledSettings> = {}) =>
  pooledPii({ ...MODES, rules, tokenizer: createTokenizer(passingConversationKey()), owner: 'one', ...changes });
const filled = (part: string, length: number) => part.repeat(Math.ceil(length / part.length)).slice(0, length);

test('what a thread answers is what a session here would, of texts and of streams, however these are cut', async () => {
  const recognizers = [
    recognizer({ action: 'tokenize' }),
    recognizer({
      id: '2',
      name: 'code',
      kind: 'aho_corasick',
      pattern: `Project X\nBlue Moon\n${filled('not here ', 200)}`,
      action: 'redact',
    }),
    recognizer({ id: '3', name: 'ours', pattern: '[a-z]+@acme\\.example', action: 'whitelist' }),
  ];
  const conversation = passingConversationKey();
  const here = piiSession({ ...MODES, policy: compilePolicy(null, recognizers), tokenizer: createTokenizer(conversation) });
  const there = await opened(rulesOf(recognizers), { tokenizer: createTokenizer(conversation) });
  const texts = ['Member MEM-123456 wrote to bob@acme.example and jane@example.com.', 'Nothing', 'On project x: SSN 123-45-6789'];
  const sent = await there.request(texts);
  assert.deepEqual(sent, here.request(texts));
  assert.equal(sent[1], 'Nothing');
  assert.deepEqual([...there.requestCounts], [...here.requestCounts]);
  const answer = `${sent.join(' ')} Blue moon, joe@example.org. ${filled('More words. ', 400)}`;
  assert.deepEqual(await there.answer([answer]), here.answer([answer]));
  const pieces = ['jane@exam', 'ple.com and 123-', '45-6789'];
  assert.deepEqual(await there.running(pieces), here.running(pieces));
  for (const [channel, text] of [
    ['text', answer],
    ['json', JSON.stringify({ to: sent[0], list: [answer, 4111111111111111, null] })],
  ] as const) {
    const one = here.stream(channel);
    const whole = one.push(text) + one.flush();
    for (const step of [1, 7, 130, text.length]) {
      const stream = there.stream(channel);
      let passed = '';
      for (let at = 0; at < text.length; at += step) passed += await stream.push(text.slice(at, at + step));
      assert.equal(passed + (await stream.flush()), whole, `${channel} by ${step}`);
    }
  }
});

test('a stream of built-in detectors goes on on a thread where it becomes long, and comes back', async () => {
  const long = `${filled('word ', 3_000)}${filled('A1+', 6_000)} 123-45-6789 ${filled('word ', 20_000)} jane@example.com`;
  const expected = `${filled('word ', 3_000)}${filled('A1+', 6_000)} <US_SSN> ${filled('word ', 20_000)} <EMAIL_ADDRESS>`;
  for (const step of [50, 1_000, 10_000]) {
    const stream = (await opened(rulesOf())).stream('text');
    let passed = '';
    for (let at = 0; at < long.length; at += step) passed += await stream.push(long.slice(at, at + step));
    assert.equal(passed + (await stream.flush()), expected, `${step}`);
  }
});

/** The worst shapes that were found for the detectors, and plain ones. */
const SHAPES: Readonly<Record<string, string>> = {
  prose: 'The quick brown fox wrote to Project Apollo about MEM-123456 and left. ',
  json: '{"id":100000123,"phone":"+41 44 668 18 00","iban":"GB82 WEST 1234 5698 7654 32","card":"4111 1111 1111 1111"},',
  letters: 'xx',
  digits: '4111 1',
  beginnings: 'eyJaaaaaaaaa.',
  orders: 'ignore all the tool without call decode ',
  Chinese: '私は東京に住んでいます。',
  look_alikes: 'іgnоre а',
};

for (const [shape, part] of Object.entries(SHAPES))
  test(`megabytes of ${shape} are read or refused, and the loop goes on`, async () => {
    const text = filled(part, shape === 'prose' || shape === 'letters' ? 8 * MIB : 2 * MIB);
    const outcomes = await neverBlocks(() =>
      Promise.allSettled([
        opened(TWENTY).then((pii) => pii.request([text])),
        scanTexts({ heuristics: [{ name: 'own', kind: 'regex', pattern: '(?:x+x+)+y' }] }, [{ text, source: 'data' }], 'one'),
        withoutMarkers([text], ['ABCDEFGHIJKLMNOP'], 'one'),
      ]),
    );
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        assert.match((outcome.reason as Error).name, /^(?:BudgetExceeded|WorkTooSlow)$/, `${outcome.reason}`);
  });

test('as many recognizers as a policy may name read a long text or refuse it, and the loop goes on', async () => {
  const rules = rulesOf(
    Array.from({ length: MOST_RECOGNIZERS }, (_, i) =>
      recognizer({ id: `${i}`, name: `own_${i}`, pattern: `${PATTERNS[i % 5] as string}|OWN${i}-[0-9]+` }),
    ),
  );
  await neverBlocks(async () => {
    const pii = await opened(rules);
    assert.match((await pii.request([`OWN${MOST_RECOGNIZERS - 1}-77`]))[0] ?? '', /OWN_499/);
    const long = async () => pii.request([filled('OWN7-7 xxxx MEM-12345 ', 100 * 1024)]);
    await long().catch((error: Error) => assert.equal(error.name, 'BudgetExceeded'));
  });
});

test('a conversation has a bound of values, and over it the call is refused', async () => {
  const values = (from: number, count: number) => Array.from({ length: count }, (_, i) => `user${from + i}@example.com`).join(' ');
  const pii = await opened(rulesOf());
  await neverBlocks(async () => {
    const [sent = ''] = await pii.request([values(0, MOST_TOKENS)]);
    assert.equal((await pii.answer([sent]))[0], values(0, MOST_TOKENS));
    await assert.rejects(async () => pii.request([values(MOST_TOKENS, 1_000)]), { name: 'BudgetExceeded', message: /too many values/ });
  });
});

test('patterns that no longer compile, and recognizers that can not run, are told by their problem', async () => {
  await assert.rejects(async () => (await opened(rulesOf([recognizer({ pattern: '(' })]))).request(['x']), { name: 'UnsupportedPattern' });
  const { id: _, enabled: __, ...settings } = recognizer({ pattern: '.+', action: 'whitelist' });
  assert.equal((await problemOf({ recognizer: settings }, 'one'))?.kind, 'whitelist');
  const keyword = { name: 'x', kind: 'keyword', pattern: 'x' } as const;
  assert.equal((await problemOf({ heuristics: [keyword, { name: 'y', kind: 'regex', pattern: '(' }] }, 'one'))?.index, 1);
  assert.equal(await problemOf({ heuristics: [keyword] }, 'one'), null);
  const shown = await shownMatches(
    'bob@acme.example',
    rulesOf([recognizer({ pattern: '[a-z]+@acme\\.example', action: 'whitelist' })]),
    'one',
  );
  assert.deepEqual([shown.matches, shown.exempt.length], [[], 1]);
});
