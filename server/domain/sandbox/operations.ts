import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { operation } from '#server/kernel/operation.ts';
import { Promotion, ResetTest, SandboxPlan, TestWasReset } from './schema.ts';
import * as sandbox from './service.ts';

export const promote = operation({
  id: 'sandbox.promote',
  summary: 'Promote configuration from Test to Live',
  http: 'POST /admin/sandbox/promote',
  kind: 'change',
  needs: ['sandbox:promote'],
  step_up: { by_verb: ['credential.move', 'capability.grant', 'protection.loosen'] },
  refuses: ['conflict', 'plan_limit', 'role_denied', ...MOVE_REFUSALS],
  input: Promotion,
  output: SandboxPlan,
  run: (ctx, input) => sandbox.promote(ctx, input),
});

export const clone = operation({
  id: 'sandbox.clone',
  summary: 'Copy configuration from Live to Test',
  http: 'POST /admin/sandbox/clone',
  kind: 'change',
  needs: ['sandbox:promote'],
  step_up: { by_verb: ['credential.move', 'capability.grant', 'protection.loosen'] },
  refuses: ['conflict', 'plan_limit', 'role_denied', ...MOVE_REFUSALS],
  input: Promotion,
  output: SandboxPlan,
  run: (ctx, input) => sandbox.clone(ctx, input),
});

export const reset = operation({
  id: 'sandbox.reset',
  summary: 'Delete everything in Test and seed the starter again',
  http: 'POST /admin/sandbox/reset',
  kind: 'change',
  needs: ['sandbox:reset'],
  step_up: { when_enrolled: 'sandbox.reset' },
  refuses: ['role_denied', 'step_up_required', 'invalid_credentials', 'rate_limited'],
  input: ResetTest,
  output: TestWasReset,
  run: sandbox.resetTest,
});
