import assert from 'node:assert/strict';
import test from 'node:test';
import { passingConversationKey } from '#server/crypto/pii-keys.ts';
import { run } from './detectors.thread.ts';
import type { PiiJob } from './job.ts';
import { kept } from './kept.ts';

test('the least recently used go when there are too many, and what is over its age goes by itself', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const some = kept<string>(100, 2, 1_000);
  some.set('a', 'A', 1);
  some.set('b', 'B', 1);
  assert.equal(some.get('a'), 'A');
  some.set('c', 'C', 1);
  assert.deepEqual([some.get('a'), some.get('b'), some.get('c')], ['A', undefined, 'C']);
  t.mock.timers.tick(600);
  some.set('c', 'C', 1);
  t.mock.timers.tick(600);
  assert.deepEqual([some.get('a'), some.get('c')], [undefined, 'C']);
  t.mock.timers.tick(600);
  assert.equal(some.get('c'), undefined);
});

test('a thread keeps nothing that a caller sent for longer than a minute after its last text', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const entries = [{ token: 'svc-1234567890@pii.invalid', value: 'jane@example.com', entity: 'EMAIL_ADDRESS', format: 'email' as const }];
  const job: PiiJob = {
    job: 'pii',
    policy: { key: 'none', source: { builtIns: 'tokenize', recognizers: [] } },
    tokens: { key: '1:1', source: { conversation: passingConversationKey(), entries } },
    modes: { requestMode: 'tokenize', responseMode: 'detokenize' },
    work: { on: 'answer', texts: ['To svc-1234567890@pii.invalid'] },
  };
  const textsOf = (outcome: unknown) => (outcome as { value: { texts: string[] } }).value.texts;
  assert.deepEqual(textsOf(run(job)), ['To jane@example.com']);
  const later = { ...job, tokens: { key: '1:1' } };
  assert.deepEqual(textsOf(run(later)), ['To jane@example.com'], 'the next text of the same call finds them');
  t.mock.timers.tick(60_000);
  assert.deepEqual(run(later), { missing: true });
});

test('what is over the size goes, the least recently used first, and the newest stays whatever its size', () => {
  const values = kept<string>(10, 100);
  for (const key of ['a', 'b', 'c']) values.set(key, key, 3);
  assert.equal(values.get('a'), 'a');
  values.set('d', 'd', 4);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => values.get(key)),
    ['a', undefined, 'c', 'd'],
  );
  values.set('whole', 'whole', 1_000);
  assert.deepEqual(
    ['a', 'c', 'd', 'whole'].map((key) => values.get(key)),
    [undefined, undefined, undefined, 'whole'],
  );
  values.set('e', 'e', 10);
  assert.deepEqual([values.get('whole'), values.get('e')], [undefined, 'e']);
});

test('what is over the number goes, however small, and what is replaced or deleted counts no more', () => {
  const values = kept<number>(10, 3);
  for (let i = 0; i < 100; i++) values.set(`${i}`, i, 0);
  assert.deepEqual(
    ['96', '97', '98', '99'].map((key) => values.get(key)),
    [undefined, 97, 98, 99],
  );
  for (let i = 0; i < 100; i++) values.set('99', i, 10);
  values.delete('99');
  values.set('last', 1, 10);
  assert.deepEqual([values.get('97'), values.get('98'), values.get('last')], [97, 98, 1]);
});
