import assert from 'node:assert/strict';
import test from 'node:test';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { newQueryClient } from './query-client.ts';

test('what is read again keeps its digits and the order of its names, and is shared where nothing changed', async () => {
  const client = newQueryClient();
  const read = (text: string) => client.fetchQuery({ queryKey: ['one'], queryFn: () => parseExact(text), staleTime: 0 });
  for (const text of ['{"b":1,"2":1.10,"1":{"n":7615917337495251231}}', '{"b":2,"2":1.10,"1":{"n":7615917337495251232}}']) {
    await read(text);
    assert.equal(JSON.stringify(client.getQueryData(['one'])), text);
  }
  const plain = '{"a":{"b":1},"c":2}';
  const before = (await read(plain)) as { a: unknown };
  await read(plain.replace('2', '3'));
  assert.equal((client.getQueryData(['one']) as typeof before).a, before.a);
});
