import assert from 'node:assert/strict';
import test from 'node:test';
import { afterReads, endTurn } from './turn.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('work is done in the order it was asked for, and what it asks for itself comes after all of it', async () => {
  const done: string[] = [];
  afterReads(() => {
    done.push('a');
    afterReads(() => done.push('c'));
  });
  afterReads(() => done.push('b'));
  assert.deepEqual(done, []);
  await nextTurn();
  await nextTurn();
  assert.deepEqual(done, ['a', 'b', 'c']);
});

test('who must come after what waits has it done now, once', async () => {
  const done: string[] = [];
  afterReads(() => done.push('a'));
  endTurn();
  assert.deepEqual(done, ['a']);
  afterReads(() => done.push('b'));
  await nextTurn();
  assert.deepEqual(done, ['a', 'b']);
});

test('work that throws takes nobody else with it', async () => {
  const done: string[] = [];
  afterReads(() => done.push('a'));
  afterReads(() => {
    throw new Error('on purpose');
  });
  afterReads(() => done.push('b'));
  assert.throws(endTurn, /on purpose/);
  await nextTurn();
  assert.deepEqual(done, ['a', 'b']);
});
