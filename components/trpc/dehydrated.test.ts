import assert from 'node:assert/strict';
import test from 'node:test';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { dehydrated } from './dehydrated.ts';
import { newQueryClient } from './query-client.ts';

/** The answers that a page hands to its browser, by their key. */
function handed(answers: Record<string, unknown>): Record<string, unknown> {
  const client = newQueryClient();
  for (const [name, answer] of Object.entries(answers)) client.setQueryData([name], answer);
  return Object.fromEntries(dehydrated(client).queries.map(({ queryKey, state }) => [queryKey[0], state.data]));
}

test('a page hands plain answers to its browser', () => {
  const plain = { rows: [{ id: 'a', total: 1.5, tags: {}, none: null }], total: 1 };
  assert.deepEqual(handed({ plain, empty: [], nothing: null }), { plain, empty: [], nothing: null });
});

test('the browser asks itself for an answer that React can’t pass: with exact numbers or a member __proto__', () => {
  const hostile = [
    '7615917337495251231',
    '[1,{"rate":1.10}]',
    '{"data":[{"metadata":{"account":-0}}]}',
    '{"output":{"__proto__":{"a":1}}}',
  ];
  const answers = Object.fromEntries(hostile.map((text) => [text, parseExact(text)]));
  assert.deepEqual(handed({ ...answers, plain: 1 }), { plain: 1 });
});
