import assert from 'node:assert/strict';
import test from 'node:test';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { changesOf, problemOf, type Setting, valuesOf } from './settings-fields.ts';

const settings: Setting[] = [
  { name: 'name', label: 'Name', kind: 'text' },
  { name: 'budget_daily_usd', label: 'Daily', kind: 'decimal' },
  { name: 'rate_limit_rpm', label: 'Requests', kind: 'integer' },
  { name: 'model_allowlist', label: 'Models', kind: 'lines' },
  { name: 'tags', label: 'Tags', kind: 'pairs' },
  { name: 'output_schema', label: 'Schema', kind: 'json' },
  { name: 'streaming_enabled', label: 'Streaming', kind: 'flag' },
  { name: 'fallback_route_ids', label: 'Routes', kind: 'many', from: 'routes', empty: 'None' },
  { name: 'routing_policy.max_attempts', label: 'Attempts', kind: 'integer' },
  { name: 'routing_policy.jitter', label: 'Jitter', kind: 'flag' },
];
const row = {
  name: 'Support',
  budget_daily_usd: '50.00',
  rate_limit_rpm: null,
  model_allowlist: ['claude-sonnet-5'],
  tags: { team: 'support' },
  output_schema: null,
  streaming_enabled: true,
  fallback_route_ids: [],
  routing_policy: { max_attempts: 2, retry_on: ['429'] },
};

test('a form that nothing was typed into changes nothing', () => {
  assert.deepEqual(changesOf(settings, valuesOf(settings, row), row), {});
});

test('an emptied field is null, an emptied list or map is empty', () => {
  const values = { ...valuesOf(settings, row), budget_daily_usd: '', model_allowlist: '', tags: '' };
  assert.deepEqual(changesOf(settings, values, row), { budget_daily_usd: null, model_allowlist: [], tags: {} });
});

test('a member of an object is saved with the members that the form does not show', () => {
  const values = { ...valuesOf(settings, row), routing_policy__max_attempts: '', routing_policy__jitter: true };
  assert.deepEqual(changesOf(settings, values, row), { routing_policy: { retry_on: ['429'], jitter: true } });
});

test('texts become what the API takes', () => {
  const values = {
    ...valuesOf(settings, row),
    rate_limit_rpm: '60',
    model_allowlist: ' a \n\nb',
    tags: 'team = support\ncost.center=7',
    output_schema: '{"type":"object"}',
    fallback_route_ids: ['r1'],
  };
  assert.deepEqual(changesOf(settings, values, row), {
    rate_limit_rpm: 60,
    model_allowlist: ['a', 'b'],
    tags: { team: 'support', 'cost.center': '7' },
    output_schema: { type: 'object' },
    fallback_route_ids: ['r1'],
  });
});

test('what no call could take is told on its field', () => {
  const [, usd, rpm, , tags, schema] = settings as [Setting, Setting, Setting, Setting, Setting, Setting];
  assert.equal(problemOf(usd, '1.23456'), 'must be a number with at most 4 decimals');
  assert.equal(problemOf(rpm, '1.5'), 'must be a whole number');
  assert.equal(problemOf(tags, 'team'), '“team” must be written as name = value');
  assert.equal(problemOf(schema, '[]'), 'must be a JSON object');
  for (const setting of [usd, rpm, tags, schema]) assert.equal(problemOf(setting, ''), undefined);
});

test('a JSON setting keeps the digits that the form’s reader reads', () => {
  const text = '{"maximum":9223372036854775807,"multipleOf":0.10}';
  const changes = changesOf(settings, { ...valuesOf(settings, row), output_schema: text }, row, parseExact);
  assert.equal(JSON.stringify(changes.output_schema), text);
});
