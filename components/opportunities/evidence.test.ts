import assert from 'node:assert/strict';
import test from 'node:test';
import { type Evidence, methodsOf, travelOf } from './evidence.ts';

const evidence = (over: Partial<Evidence>): Evidence => ({
  ...{ calls_30d: 10, days_seen: 1, first_seen: null, last_seen: null, methods: {}, path_prefixes: [], status_classes: {} },
  ...{ credential_modes: { transit: 0, escrow: 0, none: 0, direct_header: [] }, sdks: [], agents: [], reporters: 0 },
  ...over,
});

test('the way of a credential names the most exposed one first', () => {
  assert.equal(travelOf(evidence({})), 'No credential seen');
  assert.equal(
    travelOf(evidence({ credential_modes: { transit: 4, escrow: 2, none: 0, direct_header: ['authorization'] } })),
    'In the calling process, as authorization; Sent by the caller with each call; Held in escrow here',
  );
});

test('methods are listed by how often they were called', () => {
  assert.equal(methodsOf(evidence({ methods: { GET: 12, POST: 1340 } })), 'POST 1,340, GET 12');
});
