import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bothOf, definitionDiff, isEmpty } from './definition-diff.ts';
import { documentOf, TRIGGER_ID, withConfig, withName, without, withPositions, withStep } from './document.ts';

const before = withStep(documentOf({}), 'http_request', { after: TRIGGER_ID, outlet: 'out' }).doc;

test('a change is told by its field, and a move is none', () => {
  assert.ok(isEmpty(definitionDiff(before, withPositions(before, new Map([['http_1', { x: 9, y: 9 }]])))));
  const after = withName(withConfig(before, 'http_1', { url: 'https://example.com', headers: { a: 'b' } }), 'http_1', 'Notify');
  assert.deepEqual(definitionDiff(before, after).steps, [
    {
      id: 'http_1',
      name: 'Notify',
      change: 'changed',
      fields: [
        { path: 'name', before: '', after: 'Notify' },
        { path: 'url', before: '', after: 'https://example.com' },
        { path: 'headers', before: undefined, after: { a: 'b' } },
      ],
    },
  ]);
});

test('steps and edges that came and went are told, and both versions can be drawn at once', () => {
  const added = withStep(before, 'email', { after: 'http_1', outlet: 'out' }).doc;
  const after = without(added, ['http_1']);
  const diff = definitionDiff(added, after);
  assert.deepEqual(
    diff.steps.map(({ id, change }) => [id, change]),
    [['http_1', 'removed']],
  );
  assert.deepEqual(
    diff.edges.map(({ change, text }) => [change, text]),
    [
      ['added', 'trigger-node (out) → email_1'],
      ['removed', 'trigger-node (out) → http_1'],
      ['removed', 'http_1 (out) → email_1'],
    ],
  );
  const both = bothOf(added, after);
  assert.deepEqual(both.nodes.map(({ id }) => id).sort(), ['email_1', 'http_1', TRIGGER_ID]);
  assert.equal(new Set(both.edges.map(({ id }) => id)).size, both.edges.length);
});
