import assert from 'node:assert/strict';
import test from 'node:test';
import { disagreement, type Start, settled } from './config-conflict.ts';
import type { Config } from './config-draft.ts';

// Only the fields that matter here; the rest behave alike.
const stored = { environment_name: 'staging', overridden_fields: ['timeout_ms'], timeout_ms: 5_000, retry_attempts: 1, enabled: true };
const start = (more: object, isBase = false): Start => ({ config: { ...stored, ...more } as unknown as Config, isBase, updated_at: 't' });

test('a field both changed is asked about; saving mine sends it again on top of theirs', () => {
  const theirs = start({ timeout_ms: 9_000 });
  assert.deepEqual(disagreement(start({}), theirs, { timeout_ms: 1_000 }).differences, [
    { field: 'timeout_ms', base: 5_000, theirs: 9_000, mine: 1_000, clash: true },
  ]);
  assert.deepEqual(settled(start({}), theirs, { timeout_ms: 1_000 }, { timeout_ms: 'mine' }), { timeout_ms: 1_000 });
  assert.deepEqual(settled(start({}), theirs, { timeout_ms: 1_000 }, { timeout_ms: 'theirs' }), {});
});

test('a change of the base is no change of an override that inherits it', () => {
  assert.deepEqual(disagreement(start({}), start({ retry_attempts: 3 }), { timeout_ms: 1_000 }), { differences: [], kept: ['timeout_ms'] });
  assert.deepEqual(settled(start({}), start({ retry_attempts: 3 }), { timeout_ms: 1_000 }, {}), { timeout_ms: 1_000 });
});

test('an override they took away while I changed it can be kept, or let go', () => {
  const theirs = start({ overridden_fields: [] });
  assert.deepEqual(disagreement(start({}), theirs, { timeout_ms: 1 }).differences, [
    { field: 'timeout_ms', base: 5_000, theirs: null, mine: 1, clash: true },
  ]);
  assert.deepEqual(settled(start({}), theirs, { timeout_ms: 1 }, { timeout_ms: 'theirs' }), {});
});

test('what only they changed can be put back', () => {
  assert.deepEqual(settled(start({}, true), start({ retry_attempts: 3 }, true), {}, { retry_attempts: 'mine' }), { retry_attempts: 1 });
});
