import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Document } from './document.ts';
import { begin, edited } from './edits.ts';

const doc = (name: string): Document => ({ nodes: [], edges: [], name });
const named = ({ doc: one }: { doc: Document }) => one.name;

test('each change can be undone and done again', () => {
  let edits = begin(doc('a'));
  edits = edited(edits, { do: 'set', doc: doc('b') });
  edits = edited(edits, { do: 'set', doc: doc('c') });
  edits = edited(edited(edits, { do: 'undo' }), { do: 'undo' });
  assert.equal(named(edits), 'a');
  assert.equal(named(edited(edits, { do: 'undo' })), 'a', 'there is nothing before the first');
  edits = edited(edited(edits, { do: 'redo' }), { do: 'redo' });
  assert.equal(named(edited(edits, { do: 'redo' })), 'c');
});

test('the letters of one field are one step back, and a change after undoing ends what could be redone', () => {
  let edits = begin(doc('a'));
  for (const text of ['b', 'be', 'bee']) edits = edited(edits, { do: 'set', doc: doc(text), group: 'name' });
  edits = edited(edits, { do: 'undo' });
  assert.equal(named(edits), 'a');
  edits = edited(edits, { do: 'set', doc: doc('x'), group: 'name' });
  assert.equal(named(edited(edits, { do: 'redo' })), 'x');
});

test('what came from elsewhere is where undoing ends', () => {
  const edits = edited(edited(begin(doc('a')), { do: 'set', doc: doc('b') }), { do: 'replace', doc: doc('theirs') });
  assert.equal(named(edited(edits, { do: 'undo' })), 'theirs');
});
