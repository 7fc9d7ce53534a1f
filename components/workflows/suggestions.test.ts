import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, TRIGGER_ID, withSample, withStep } from './document.ts';
import { completed, matching, suggestionsFor, typedAt } from './suggestions.ts';

const { doc: one } = withStep(documentOf({}), 'http_request', { after: TRIGGER_ID, outlet: 'out' });
const { doc } = withStep(one, 'email', { after: 'http_1', outlet: 'out' });

test('suggestions are real values of the last run, with paths that reach them', () => {
  const outputs = new Map<string, unknown>([
    ['http_1', { status: 200, body: { items: [{ 'full name': 'Ada' }], 'a-b': 1 } }],
    ['email_1', { accepted: [] }],
  ]);
  const found = new Map(suggestionsFor(doc, 'email_1', outputs).map(({ path, preview }) => [path, preview]));
  assert.equal(found.get('http_1.status'), '200');
  assert.equal(found.get('http_1.body.items'), '[1]');
  assert.equal(found.get('http_1.body.items[0]["full name"]'), '"Ada"');
  assert.equal(found.get('http_1.body.a-b'), '1');
  assert.ok(found.has('trigger.data'));
  assert.ok(![...found.keys()].some((path) => path.startsWith('email_1')), 'a step has not run before itself');
});

test('a kept sample goes before the last run', () => {
  const kept = withSample(doc, 'http_1', { status: 418 });
  const found = suggestionsFor(kept, 'email_1', new Map([['http_1', { status: 200 }]]));
  assert.equal(found.find(({ path }) => path === 'http_1.status')?.preview, '418');
});

test('a reference is completed where the cursor is', () => {
  const text = 'Status {{ http_1.st of it';
  assert.deepEqual(typedAt(text, 19), { from: 10, typed: 'http_1.st' });
  assert.deepEqual(completed(text, 19, 'http_1.status'), { text: 'Status {{ http_1.status}} of it', cursor: 25 });
  assert.equal(completed('{{ht}} x', 4, 'http_1.body').text, '{{http_1.body}} x');
  assert.equal(typedAt('{{a}} b', 7), undefined);
  assert.equal(typedAt('{{a | upp', 9), undefined);
  assert.equal(completed('a', 1, 'http_1').text, 'a{{http_1}}');
  assert.deepEqual(completed('x === tri', 9, 'trigger.data', true), { text: 'x === trigger.data', cursor: 18 });
});

test('what begins with the typed text comes first', () => {
  const all = ['http_1.body', 'body_1', 'email'].map((path) => ({ path, preview: '', of: '' }));
  assert.deepEqual(
    matching(all, 'Body').map(({ path }) => path),
    ['body_1', 'http_1.body'],
  );
});
