import assert from 'node:assert/strict';
import test from 'node:test';
import { type Shrinking, shrinkingMark, shrinkingWords } from './shrinking-words.ts';

const log: Shrinking = { kind: 'log', days: 30, days_then: 3, ends: '2026-11-28T10:00:00.000Z' };
const audit: Shrinking = { kind: 'audit', days: null, days_then: 1, ends: '2026-11-28T10:00:00.000Z' };

test('what a smaller plan will take is said in days, with what to do before', () => {
  assert.equal(
    shrinkingWords([log]),
    'The plan became smaller: calls are then kept for 3 days instead of 30. Export before that what you want to keep.',
  );
  assert.equal(
    shrinkingWords([log, audit]),
    'The plan became smaller: calls are then kept for 3 days instead of 30 and audit entries for 1 day instead of for ever. Export before that what you want to keep.',
  );
});

test('a notice that was put away stays away, and the next one, or that of another workspace, does not', () => {
  const mark = shrinkingMark('acme', [log]);
  assert.equal(mark, shrinkingMark('acme', [{ ...log }]));
  assert.match(mark, /^[\w.-]+$/, 'a cookie holds it as it is');
  assert.notEqual(mark, shrinkingMark('acme', [{ ...log, ends: '2027-01-04T10:00:00.000Z' }]));
  assert.notEqual(mark, shrinkingMark('acme', [log, audit]));
  assert.notEqual(mark, shrinkingMark('other', [log]));
});
