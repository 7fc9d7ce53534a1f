import assert from 'node:assert/strict';
import test from 'node:test';
import { limitsOf, phasesOf, type Traced, traceText } from './trace.ts';

const plane = {
  phaseNames: ['inspect', 'authenticate', 'find_route', 'match_client', 'admit', 'restrict', 'detect_loop', 'limit', 'rewrite'],
  limitPhase: 7,
};
const TOKEN = "!#$%&'*+-.^_`|~azAZ09";

const whole: Traced = {
  phaseTimings: [0, 0.001, 0.011, 1.01, 2.01, 3.51, 3.51, 12_349.188, 12_349.288],
  phase: 'first-byte',
  names: ['host', TOKEN, 'x'.repeat(200)],
  responseHeaders: ['content-type'],
  routeVerdict: { limit: 5, remaining: 4 },
  tenantVerdict: { limit: 1e21, remaining: 0 },
  monthly: { limit: 1e15, remaining: -0.5 },
};
const least: Traced = {
  phaseTimings: [],
  phase: 'complete',
  names: [],
  responseHeaders: null,
  routeVerdict: null,
  tenantVerdict: null,
  monthly: null,
};

test('the trace of a call is the JSON it would be by the usual writer, however far the call came', () => {
  for (const call of [whole, least, { ...whole, phaseTimings: whole.phaseTimings.slice(0, 3), monthly: null }]) {
    const usual = {
      phases_ms: phasesOf(call, plane),
      latency_phase: call.phase,
      request_headers: call.names.map((name) => name.slice(0, 128)),
      response_headers: call.responseHeaders ?? [],
      limits: limitsOf(call),
    };
    assert.equal(traceText(call, plane).text, JSON.stringify(usual));
  }
  assert.deepEqual(phasesOf({ phaseTimings: [0.25, 0.251, 1.251] }, plane), { inspect: 0.25, authenticate: 0.001, find_route: 1 });
});

test('a call tells its own names, whatever calls with as many names told before it', () => {
  const told = (names: string[]) => JSON.parse(traceText({ ...least, names }, plane).text).request_headers;
  for (const names of [['a', 'b'], ['a', 'b'], ['b', 'a'], ['a', 'c'], ['a'], ['a', 'b'], []]) assert.deepEqual(told([...names]), names);
});

test('a call counts against the plan from the phase of the limits on, and not before', () => {
  const pastLimits = (phases: number) => traceText({ ...whole, phaseTimings: whole.phaseTimings.slice(0, phases) }, plane).pastLimits;
  assert.deepEqual([0, 7, 8, 9].map(pastLimits), [false, false, true, true]);
});
