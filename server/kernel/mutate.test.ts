import assert from 'node:assert/strict';
import test from 'node:test';
import { type AuditEntry, audited } from './mutate.ts';

test('a change may tell of more things than a function takes arguments, in their order', () => {
  const entry = (n: number): AuditEntry => ({ action: 'update', resource_type: 'route', resource_id: String(n) });
  const many = Array.from({ length: 300_000 }, (_, n) => entry(n + 1));
  const { entries } = audited(null, entry(0), many.slice(0, 200_000), many.slice(200_000));
  assert.deepEqual([entries.length, entries[0]?.resource_id, entries.at(-1)?.resource_id], [300_001, '0', '300000']);
});
