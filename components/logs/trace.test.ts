import assert from 'node:assert/strict';
import test from 'node:test';
import { phasesOf, traceOf } from './trace.ts';

const call = { latency_ms: 14, upstream_ms: 8, origin: 'upstream', error: null };
// As PostgreSQL hands jsonb back: keys by length, then by letter.
const stored = traceOf({ phases_ms: { admit: 0.5, limit: 0.1, inspect: 0.4, rewrite: 1.5, restrict: 0, find_route: 1, authenticate: 2 } });

test('phases stand in the order in which the gateway went through them, whatever order the database kept', () => {
  assert.deepEqual(
    phasesOf(call, stored).phases.map((phase) => phase.name),
    [
      'Parse request',
      'Authenticate',
      'Find route',
      'Authorize caller',
      'Check restrictions',
      'Apply rate limits',
      'Inject and rewrite',
      'Upstream',
      'Send response',
    ],
  );
});

test('a refused call is shown as stopped in the last phase it reached', () => {
  const refused = { latency_ms: 2, upstream_ms: null, origin: 'service', error: 'client_not_allowed' };
  const trace = traceOf({ phases_ms: { admit: 1, inspect: 0.4, find_route: 0.2, authenticate: 0.3 } });
  assert.equal(phasesOf(refused, trace).stoppedAt, 'Authorize caller');
});
