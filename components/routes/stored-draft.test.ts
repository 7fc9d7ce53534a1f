import assert from 'node:assert/strict';
import test from 'node:test';
import { disagreement, type Start } from './config-conflict.ts';
import type { Config, Draft } from './config-draft.ts';
import { draftLabels } from './draft-labels.ts';
import { keptOf, restored } from './stored-draft.ts';

const stored = {
  environment_name: 'staging',
  overridden_fields: ['timeout_ms'],
  timeout_ms: 5_000,
  retry_attempts: 1,
  inject_headers_json: {},
};
const start = (more: object, updated_at: string, isBase = false): Start => ({
  config: { ...stored, ...more } as unknown as Config,
  isBase,
  updated_at,
});
const draft = { timeout_ms: 9_000, retry_attempts: 3 } as Draft;

test('changes kept for a tab come back as they were, in every environment', () => {
  const starts = { staging: start({}, '1'), production: start({ environment_name: 'production' }, '1', true) };
  const { secret: _, ...kept } = keptOf({ staging: draft, production: { timeout_ms: 1 } as Draft, quiet: {} }, starts);
  assert.deepEqual(kept.values, { 'staging.timeout_ms': 9_000, 'staging.retry_attempts': 3, 'production.timeout_ms': 1 });
  assert.deepEqual(kept.base, { 'staging.timeout_ms': 5_000, 'staging.retry_attempts': null, 'production.timeout_ms': 5_000 });
  const back = restored({ ...kept, at: '', left_out: [] }, starts);
  assert.deepEqual(back, { drafts: { staging: draft, production: { timeout_ms: 1 } }, starts });
  assert.equal(draftLabels({ ...kept, at: '', left_out: [] })['staging.timeout_ms'], 'Timeout (ms) in staging');
});

test('what somebody saved between leaving and restoring is a conflict, and only that', () => {
  const { secret: _, ...kept } = keptOf({ staging: draft }, { staging: start({}, '1') });
  const now = start({ timeout_ms: 7_000, enabled: false, overridden_fields: ['timeout_ms', 'enabled'] }, '2');
  const { drafts, starts } = restored({ ...kept, at: '', left_out: [] }, { staging: now });
  assert.equal(starts.staging?.updated_at, '1', 'the save must be refused, so that the conflict is shown');
  assert.ok(starts.staging && drafts.staging);
  assert.deepEqual(disagreement(starts.staging, now, drafts.staging), {
    differences: [{ field: 'timeout_ms', base: 5_000, theirs: 7_000, mine: 9_000, clash: true }],
    kept: ['retry_attempts'],
  });
});

test('headers, query, body and settings by method are named as what may never be stored', () => {
  const { secret } = keptOf({ staging: { inject_headers_json: { 'X-Plain': 'hunter2hunter2' } } as Draft }, { staging: start({}, '1') });
  for (const field of ['inject_headers_json', 'inject_query_json', 'inject_body_json', 'method_configs'])
    assert.ok(secret.includes(`staging.${field}`), field);
});

test('an environment that is not served any more is left out', () => {
  const { secret: _, ...kept } = keptOf({ staging: draft }, { staging: start({}, '1') });
  assert.deepEqual(restored({ ...kept, at: '', left_out: [] }, {}), { drafts: {}, starts: {} });
});
