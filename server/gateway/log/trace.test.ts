import assert from 'node:assert/strict';
import test from 'node:test';
import { type Trace, traceText } from './trace.ts';

const TOKEN = "!#$%&'*+-.^_`|~azAZ09";

test('the trace of a call is the JSON it would be by the usual writer, however far the call came', () => {
  const whole: Trace = {
    phases_ms: {
      inspect: 0,
      authenticate: 0.001,
      find_route: 0.01,
      match_client: 0.999,
      admit: 1,
      restrict: 1.5,
      limit: 12_345.678,
      rewrite: 0.1,
    },
    latency_phase: 'first-byte',
    request_headers: ['host', TOKEN, 'x'.repeat(128)],
    response_headers: ['content-type'],
    limits: { route: { limit: 5, remaining: 4 }, tenant: { limit: 1e21, remaining: 0 }, monthly: { limit: 1e15, remaining: -0.5 } },
  };
  const least: Trace = { phases_ms: {}, latency_phase: 'complete', request_headers: [], response_headers: [], limits: {} };
  for (const trace of [whole, least]) assert.equal(traceText(trace), JSON.stringify(trace));
});
