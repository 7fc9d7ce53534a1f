import assert from 'node:assert/strict';
import test from 'node:test';
import { ALERT_TYPES, DEFAULTS } from '#server/domain/alerts/conditions.shared.ts';
import { AlertValues, conditionOf, conditionTexts, NEW, valuesFrom } from './alert-values.ts';

test('the defaults of every type go through the form and come out as they were', () => {
  for (const type of ALERT_TYPES) {
    const values = { ...NEW, name: 'x', type, ...conditionTexts(DEFAULTS[type]) };
    assert.equal(AlertValues.safeParse(values).success, true, type);
    assert.deepEqual(conditionOf(values), DEFAULTS[type], type);
  }
});

test('a condition without its numbers is told at its field, and members of other types are not judged', () => {
  const bad = AlertValues.safeParse({ ...NEW, name: 'x', threshold: '0', days: 'never', include_status_codes: '5xx' });
  assert.deepEqual(bad.error?.issues.map(({ path }) => path[0]).sort(), ['include_status_codes', 'threshold']);
});

test('a link fills in a type and a route, and nothing it should not', () => {
  const id = '01a20ac1-e044-7000-8754-8c6f020e6d38';
  const filled = valuesFrom(new URLSearchParams({ type: 'high_latency', route_id: id, name: 'x' }));
  assert.deepEqual([filled.type, filled.threshold_ms, filled.route_ids, filled.name], ['high_latency', '1000', [id], undefined]);
  assert.deepEqual(valuesFrom(new URLSearchParams({ type: 'nonsense', route_id: '<b>' })), {});
});
