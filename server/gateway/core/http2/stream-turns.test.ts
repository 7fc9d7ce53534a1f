import assert from 'node:assert/strict';
import type { ServerHttp2Stream } from 'node:http2';
import test from 'node:test';
import { beginInTurn } from './stream-turns.ts';

test('sixteen calls begin in a turn, in their order, and a stream that is reset before its turn never', async () => {
  const begun: number[] = [];
  const streams = Array.from({ length: 40 }, () => ({ closed: false, destroyed: false }));
  for (const [i, stream] of streams.entries()) beginInTurn(stream as ServerHttp2Stream, () => begun.push(i));
  assert.deepEqual(begun, [], 'none before the sockets are read');
  for (const i of [0, 3]) Object.assign(streams[i] as object, { closed: true });
  const turns: number[][] = [];
  while (turns.flat().length < 36) {
    await new Promise(setImmediate);
    turns.push(begun.splice(0));
    if (turns.length === 1) for (const i of [20, 39]) Object.assign(streams[i] as object, { destroyed: true });
  }
  const expected = streams.flatMap((_, i) => ([0, 3, 20, 39].includes(i) ? [] : [i]));
  assert.deepEqual(turns.flat(), expected);
  assert.deepEqual(
    turns.map(({ length }) => length),
    [16, 16, 4],
  );
});
