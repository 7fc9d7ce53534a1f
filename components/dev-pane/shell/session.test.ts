import assert from 'node:assert/strict';
import test from 'node:test';
import { addEntry, change, sessionOf, setOutput } from './session.ts';

const place = { person: 'ada', slug: 'acme', space: 'test' };
const note = (text: string) => ({ kind: 'note', text }) as const;

test('what is answered while the pane is closed stands at its line when it is opened again, and in no other space', () => {
  const first = addEntry(place, { line: 'routes create' });
  const second = addEntry(place, { line: 'routes list' });
  setOutput(place, first, note('made'));
  assert.deepEqual(sessionOf(place).entries, [
    { key: first, line: 'routes create', output: note('made') },
    { key: second, line: 'routes list' },
  ]);
  for (const other of [{ space: 'live' }, { slug: 'beta' }, { person: 'grace' }])
    assert.deepEqual(sessionOf({ ...place, ...other }).entries, []);
});

test('a line that was cleared away does not come back with its answer', () => {
  const key = addEntry(place, { line: 'routes list' });
  change(place, { entries: [] });
  setOutput(place, key, note('late'));
  assert.deepEqual(sessionOf(place).entries, []);
});

test('the shell of somebody else who signed in on the same tab ends, and no shell grows for ever', () => {
  addEntry(place, { line: 'secrets list' });
  const grace = { ...place, person: 'grace' };
  for (let i = 0; i < 70; i++) addEntry(grace, { line: `${i}` });
  assert.deepEqual(sessionOf(place).entries, []);
  assert.deepEqual([sessionOf(grace).entries.length, sessionOf(grace).entries[0]?.line], [60, '10']);
});
