import assert from 'node:assert/strict';
import test from 'node:test';
import { revealForbidden } from './reveal-forbidden.ts';

test('who can’t reveal is told before asking: by their role, or by the setting of an Editor', () => {
  const told = (role: string, on = false) => [
    revealForbidden(role, on, 'secret:reveal')?.slice(0, 14),
    revealForbidden(role, on, 'log:read_payload')?.slice(0, 14),
  ];
  for (const role of ['owner', 'admin']) assert.deepEqual(told(role), [undefined, undefined]);
  assert.deepEqual(told('editor'), ['Reveal secrets', 'Your role can’']);
  assert.deepEqual(told('editor', true), [undefined, 'Your role can’']);
  for (const role of ['viewer', 'member', 'nobody']) assert.deepEqual(told(role, true), ['Your role can’', 'Your role can’']);
});
