import assert from 'node:assert/strict';
import test from 'node:test';
import { madeAt, newId } from './ids.ts';
import { renewProcessState } from './process-state.ts';

test('ids of one process sort in the order they were made, however many fall into a millisecond', () => {
  const ids = Array.from({ length: 20_000 }, newId);
  assert.deepEqual([...ids].sort(), ids);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids.slice(0, 10)) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('an id tells when it was made', (t) => {
  // Ids made above may lie ahead of the clock.
  const now = (madeAt(newId())?.getTime() ?? 0) + 1;
  t.mock.timers.enable({ apis: ['Date'], now });
  assert.equal(madeAt(newId())?.getTime(), now);
  assert.equal(madeAt('0190a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b'), undefined);
});

test('ids go on sorting when the clock goes back, and a new process believes its clock', (t) => {
  const now = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: now + 3_600_000 });
  const ahead = newId();
  t.mock.timers.setTime(now);
  assert.ok(newId() > ahead);
  renewProcessState();
  assert.equal(madeAt(newId())?.getTime(), now);
});
