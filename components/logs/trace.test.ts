import assert from 'node:assert/strict';
import test from 'node:test';
import { aiPlane } from '#server/gateway/ai/plane.ts';
import { proxyPlane } from '#server/gateway/ephemeral/proxy-plane.ts';
import { wrapPlane } from '#server/gateway/ephemeral/wrap-plane.ts';
import { mcpPlane } from '#server/gateway/mcp/plane.ts';
import { routePlane } from '#server/gateway/route/plane.ts';
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

test('phases of every plane have words, and stand in the order of the plane', () => {
  const unused = () => assert.fail('no call is made');
  for (const { name, phaseNames } of [routePlane, proxyPlane, wrapPlane, aiPlane, mcpPlane(unused)]) {
    const shown = (names: readonly string[]) =>
      phasesOf(call, traceOf({ phases_ms: Object.fromEntries(names.map((one) => [one, 1])) })).phases.map((phase) => phase.name);
    const words = phaseNames.map((one) => shown([one])[0] as string);
    for (const [at, word] of words.entries()) assert.notEqual(word, phaseNames[at], `${name}: words for ${word}`);
    assert.deepEqual(shown(phaseNames.toReversed()).slice(0, words.length), words, name);
  }
});
