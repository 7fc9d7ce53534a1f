import assert from 'node:assert/strict';
import test from 'node:test';
import { operations } from '#server/api/operations.ts';
import { CAPABILITIES, type Capability, memberCapabilities, ROLE_MATRIX } from './capabilities.ts';
import { GUARDED, newlyGuarded } from './guarded-capabilities.ts';
import { capabilitiesOf } from './needs.ts';

/** What a person does with a capability besides looking: it always asks, or it is an ordinary act. */
const acts = (capability: Capability) =>
  operations.filter(({ kind, needs }) => kind !== 'read' && capabilitiesOf(needs).some((one) => one === capability));
const onlyByConfirming = (capability: Capability): boolean => {
  const found = acts(capability);
  return found.length > 0 && found.every(({ kind, step_up }) => kind === 'reveal' || typeof step_up === 'string');
};
const byReveal = (capability: Capability): boolean =>
  ['B', 't'].includes(ROLE_MATRIX.get(capability)?.editor ?? '-') || ROLE_MATRIX.get(capability)?.owner === 'B';

test('what people reach only by a reveal or by an act that always asks is guarded, and nothing else is', () => {
  const expected = CAPABILITIES.filter(
    // No person holds the first; the value is the same that secret:reveal shows.
    (capability) => capability === 'secret:read_oauth_token' || byReveal(capability) || onlyByConfirming(capability),
  );
  assert.deepEqual([...GUARDED.keys()].sort(), expected);
});

test('class A is what Editors may be allowed to reveal', () => {
  const editors = memberCapabilities('editor', { reveal_secrets: true });
  for (const [capability, of] of GUARDED)
    assert.equal(of === 'A', editors.has(capability) || capability === 'secret:read_oauth_token', capability);
});

test('only what comes new is asked about, and what was held for everything was held on each thing', () => {
  const grants = (before: Parameters<typeof newlyGuarded>[0], after: Parameters<typeof newlyGuarded>[1]) =>
    newlyGuarded(before, after).grants;
  assert.deepEqual(grants([], ['route:read', 'transit:decrypt']), ['transit:decrypt']);
  assert.deepEqual(grants(['transit:decrypt'], ['transit:decrypt', 'route:read']), []);
  assert.deepEqual(grants(['transit:decrypt'], []), []);
  assert.deepEqual(grants(['agent:create_server'], ['agent:create_server on calls']), []);
  assert.deepEqual(grants(['agent:create_server on calls'], ['agent:create_server']), ['agent:create_server']);
  assert.deepEqual(grants(['vault:detokenize on a'], ['vault:detokenize on a', 'vault:detokenize on b']), ['vault:detokenize on b']);
});
