import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  cannotConnect,
  type Document,
  documentOf,
  downstreamOf,
  fragmentOf,
  outletOf,
  stepOf,
  TRIGGER_ID,
  upstreamOf,
  withConfig,
  withEdge,
  withFragment,
  withName,
  without,
  withoutStrayEdges,
  withStep,
} from './document.ts';
import { STEP_KINDS } from './step-kinds.ts';

const start = documentOf({});
const joined = (doc: Document) => doc.edges.map((edge) => `${edge.source}.${outletOf(edge)}>${edge.target}`);

test('an empty draft opens with the trigger', () => {
  assert.deepEqual(
    start.nodes.map(({ id, type }) => [id, type]),
    [[TRIGGER_ID, 'trigger']],
  );
});

test('what the editor does not know is kept', () => {
  const doc = documentOf({
    nodes: [{ id: TRIGGER_ID, type: 'trigger', color: 'red', data: { config: {}, note: 'n' } }],
    edges: [],
    zoom: 2,
  });
  const { doc: grown } = withStep(withConfig(doc, TRIGGER_ID, { triggerType: 'schedule' }), 'email', { after: TRIGGER_ID, outlet: 'out' });
  assert.equal(grown.zoom, 2);
  const { position: _, ...trigger } = stepOf(grown, TRIGGER_ID) ?? {};
  assert.deepEqual(trigger, { id: TRIGGER_ID, type: 'trigger', color: 'red', data: { config: { triggerType: 'schedule' }, note: 'n' } });
});

test('a step on an edge stands between its ends, and removing it joins them again', () => {
  const one = withStep(start, 'email', { after: TRIGGER_ID, outlet: 'out' });
  const edge = one.doc.edges[0]?.id ?? '';
  const two = withStep(one.doc, 'condition', { within: edge });
  assert.deepEqual(joined(two.doc), [`${TRIGGER_ID}.out>condition_1`, 'condition_1.true>email_1']);
  assert.deepEqual(joined(without(two.doc, ['condition_1'])), [`${TRIGGER_ID}.out>email_1`]);
});

test('the trigger stays, and nothing can lead to it or back', () => {
  const { doc } = withStep(start, 'transform', { after: TRIGGER_ID, outlet: 'out' });
  assert.equal(without(doc, [TRIGGER_ID]).nodes.length, 2);
  assert.match(cannotConnect(doc, 'transform_1', 'out', TRIGGER_ID) ?? '', /trigger/);
  assert.match(cannotConnect(doc, 'transform_1', 'out', 'transform_1') ?? '', /itself/);
  assert.match(cannotConnect(doc, TRIGGER_ID, 'out', 'transform_1') ?? '', /already/);
  const more = withStep(doc, 'email', { after: 'transform_1', outlet: 'out' }).doc;
  assert.match(cannotConnect(more, 'email_1', 'error', 'transform_1') ?? '', /loop/);
  assert.match(cannotConnect(more, 'email_1', 'true', 'transform_1') ?? '', /output/);
});

test('copies have names of their own, and refer to each other', () => {
  let { doc } = withStep(start, 'http_request', { after: TRIGGER_ID, outlet: 'out' });
  doc = withStep(doc, 'email', { after: 'http_1', outlet: 'out' }).doc;
  doc = withConfig(doc, 'email_1', { text: 'Got {{http_1.status}} of {{trigger.data.id}}, {{http_10.body}}' });
  const { doc: twice, ids } = withFragment(doc, fragmentOf(doc, ['http_1', 'email_1', TRIGGER_ID]));
  assert.deepEqual(ids, ['http_2', 'email_2']);
  assert.equal(stepOf(twice, 'email_2')?.data?.config?.text, 'Got {{http_2.status}} of {{trigger.data.id}}, {{http_10.body}}');
  assert.ok(joined(twice).includes('http_2.out>email_2'));
});

test('what a step can refer to is all before it, nearest first', () => {
  let { doc } = withStep(start, 'http_request', { after: TRIGGER_ID, outlet: 'out' });
  doc = withStep(doc, 'email', { after: 'http_1', outlet: 'out' }).doc;
  assert.deepEqual(upstreamOf(doc, 'email_1'), ['http_1', TRIGGER_ID]);
  assert.deepEqual(downstreamOf(doc, 'http_1'), ['http_1', 'email_1']);
});

test('a removed route of a router takes its edge along', () => {
  let { doc } = withStep(start, 'router', { after: TRIGGER_ID, outlet: 'out' });
  doc = withStep(doc, 'email', { after: 'router_1', outlet: 'route_1' }).doc;
  assert.equal(doc.edges.length, 2);
  assert.equal(withoutStrayEdges(withConfig(doc, 'router_1', { routes: [] })).edges.length, 1);
});

test('a name that is emptied is taken out', () => {
  const named = withName(start, TRIGGER_ID, 'Start');
  assert.equal(stepOf(named, TRIGGER_ID)?.name, 'Start');
  assert.equal('name' in (stepOf(withName(named, TRIGGER_ID, ' '), TRIGGER_ID) ?? {}), false);
});

/** Whatever is done in whatever order, the document stays one that the service takes. */
test('any row of edits keeps IDs unique, edges whole and the graph without cycles', () => {
  const kinds = STEP_KINDS.filter((kind) => kind !== 'trigger');
  const edit = fc.tuple(fc.constantFrom('add', 'insert', 'join', 'remove', 'copy'), fc.constantFrom(...kinds), fc.nat(50), fc.nat(50));
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 40 }), (edits) => {
      let doc = start;
      for (const [what, kind, a, b] of edits) {
        const [one, other] = [doc.nodes[a % doc.nodes.length]?.id ?? '', doc.nodes[b % doc.nodes.length]?.id ?? ''];
        if (what === 'add') doc = withStep(doc, kind, { after: one, outlet: 'out' }).doc;
        else if (what === 'insert' && doc.edges.length)
          doc = withStep(doc, kind, { within: doc.edges[a % doc.edges.length]?.id ?? '' }).doc;
        else if (what === 'join') doc = withEdge(doc, one, 'out', other);
        else if (what === 'remove') doc = without(doc, [one]);
        else doc = withFragment(doc, fragmentOf(doc, [one, other])).doc;
      }
      const ids = doc.nodes.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length);
      assert.equal(new Set(doc.edges.map(({ id }) => id)).size, doc.edges.length);
      for (const { source, target } of doc.edges) {
        assert.ok(ids.includes(source) && ids.includes(target) && target !== TRIGGER_ID);
        assert.ok(!downstreamOf(doc, target).includes(source), 'no way leads back');
      }
    }),
  );
});
