import assert from 'node:assert/strict';
import test from 'node:test';
import { revealProblem } from './reveal-refusal.ts';

// Every code of interface rule 32 §5.6 but the one that the shared dialog answers.
const CODES = [
  'reveal_role_denied',
  'reveal_tick_required',
  'reveal_policy_denied',
  'reveal_budget_exceeded',
  'reveal_budget_unavailable',
  'reveal_audit_unavailable',
  'reveal_check_failed',
  'operator_custody_blocked',
  'tenant_sealed',
  'reveal_reason_required',
  'capture_expired',
  'mfa_required',
];

test('each refused reveal has a sentence and a next step of its own', () => {
  const told = CODES.map((code) => revealProblem({ code, message: 'As the server has it.' }, '/acme/settings'));
  assert.equal(new Set(told.map(({ title }) => title)).size, CODES.length);
  for (const [at, { title, next }] of told.entries()) assert.ok(next !== '' && title !== 'As the server has it.', CODES[at]);
});

test('a denying policy is named, and what is not about reveals is told as the server has it', () => {
  const denied = { code: 'reveal_policy_denied', message: '', policy_action: 'webhook:reveal_secret' };
  assert.match(revealProblem(denied, '/acme/settings').title, /webhook:reveal_secret/);
  const missing = revealProblem({ code: 'not_found', message: "this resource doesn't exist." }, '/acme/settings');
  assert.deepEqual(missing, { title: "This resource doesn't exist.", next: '' });
});
