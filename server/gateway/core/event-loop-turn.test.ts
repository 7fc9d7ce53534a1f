import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { afterReads, afterResponses, flushTurn } from './event-loop-turn.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
let done: string[] = [];
const note = (name: string) => () => void done.push(name);
beforeEach(() => {
  done = [];
});

test('work is done in the order it was asked for, what nobody waits for last, and what work asks for itself in the next turn', async () => {
  afterResponses(note('log a'));
  afterReads(() => {
    done.push('a');
    afterReads(note('c'));
    afterResponses(note('log b'));
  });
  afterReads(note('b'));
  assert.deepEqual(done, []);
  await nextTurn();
  assert.deepEqual(done, ['a', 'b', 'log a', 'log b']);
  await nextTurn();
  assert.equal(done.at(-1), 'c');
});

test('who must come after what waits has it done now, once', async () => {
  afterReads(note('a'));
  afterResponses(note('b'));
  flushTurn();
  assert.deepEqual(done, ['a', 'b']);
  afterReads(note('c'));
  await nextTurn();
  assert.deepEqual(done, ['a', 'b', 'c']);
});

test('work that ends the turn itself, or throws, takes nobody else with it and does nothing twice', async () => {
  const fault = () => {
    throw new Error('on purpose');
  };
  for (const work of [note('a'), fault, note('b')]) afterReads(work);
  for (const work of [fault, note('c')]) afterResponses(work);
  assert.throws(flushTurn, /on purpose/);
  assert.deepEqual(done, ['a']);
  assert.throws(flushTurn, /on purpose/);
  await nextTurn();
  assert.deepEqual(done, ['a', 'b', 'c']);
  afterReads(flushTurn);
  afterReads(note('d'));
  await nextTurn();
  assert.deepEqual(done, ['a', 'b', 'c', 'd']);
});
