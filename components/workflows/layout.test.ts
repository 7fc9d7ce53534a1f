import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Document, documentOf, STEP_SIZE, TRIGGER_ID, withStep } from './document.ts';
import { laidOut } from './layout.ts';

test('steps are laid out below each other without one upon another', () => {
  let doc: Document = withStep(documentOf({}), 'condition', { after: TRIGGER_ID, outlet: 'out' }).doc;
  for (const outlet of ['true', 'false']) doc = withStep(doc, 'email', { after: 'condition_1', outlet }).doc;
  doc = withStep(doc, 'error_handler', { at: { x: 0, y: 0 } }).doc;
  const places = laidOut(doc);
  assert.equal(places.size, 5);
  const [trigger, condition, yes, no] = [TRIGGER_ID, 'condition_1', 'email_1', 'email_2'].map((id) => places.get(id));
  assert.ok(trigger && condition && yes && no);
  assert.ok(condition.y >= trigger.y + STEP_SIZE.height && yes.y >= condition.y + STEP_SIZE.height);
  assert.equal(yes.y, no.y);
  const all = [...places.values()];
  for (const [i, a] of all.entries())
    for (const b of all.slice(i + 1))
      assert.ok(Math.abs(a.x - b.x) >= STEP_SIZE.width || Math.abs(a.y - b.y) >= STEP_SIZE.height, 'two steps overlap');
});
