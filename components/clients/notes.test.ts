import assert from 'node:assert/strict';
import test from 'node:test';
import { noteInWords, notesOf, notesText } from './notes.ts';

test('notes survive the form as they are, and only an object is taken for notes', () => {
  const notes = { city: 'Bern', rack: 7, tags: ['a'], since: null };
  assert.deepEqual(notesOf(notesText(notes)), notes);
  assert.equal(notesText({}), '');
  assert.deepEqual(notesOf('  '), {});
  for (const text of ['[]', '"x"', 'null', '7', '{', '{a:1}']) assert.equal(notesOf(text), undefined, text);
  assert.deepEqual(Object.values(notes).map(noteInWords), ['Bern', '7', '["a"]', 'null']);
});
