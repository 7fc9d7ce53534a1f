import assert from 'node:assert/strict';
import test from 'node:test';
import { type Shrinking, shrinkingMark, shrinkingWords } from './retention-notice.ts';

const log: Shrinking = { kind: 'log', days: 30, days_then: 3, ends: '2026-11-28T10:00:00.000Z' };
const audit: Shrinking = { kind: 'audit', days: null, days_then: 1, ends: '2026-11-28T10:00:00.000Z' };

test('names the shorter retention in days and what to do before it starts', () => {
  assert.equal(
    shrinkingWords([log]),
    'Your plan changed. Logs will be kept for 3 days instead of 30. Export anything you want to keep before then.',
  );
  assert.equal(
    shrinkingWords([log, audit]),
    'Your plan changed. Logs will be kept for 3 days instead of 30 and audit entries for 1 day instead of forever. Export anything you want to keep before then.',
  );
});

test('keeps a dismissed notice away, but not the next one or another workspace’s', () => {
  const mark = shrinkingMark('acme', [log]);
  assert.equal(mark, shrinkingMark('acme', [{ ...log }]));
  assert.match(mark, /^[\w.-]+$/, 'a cookie holds it as it is');
  assert.notEqual(mark, shrinkingMark('acme', [{ ...log, ends: '2027-01-04T10:00:00.000Z' }]));
  assert.notEqual(mark, shrinkingMark('acme', [log, audit]));
  assert.notEqual(mark, shrinkingMark('other', [log]));
});
