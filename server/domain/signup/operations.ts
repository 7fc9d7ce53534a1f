import { operation } from '#server/kernel/operation.ts';
import { collectClaim } from './claim.ts';
import { Claim, ClaimRef, PendingSignUp, SignUp } from './schema.ts';
import { startSignUp } from './service.ts';

export const signup = operation({
  id: 'signup.start',
  summary: 'Sign up',
  http: 'POST /signup',
  kind: 'mint',
  needs: 'anonymous',
  refuses: ['rate_limit_exceeded', 'dependency_unavailable'],
  input: SignUp,
  output: PendingSignUp,
  success: 202,
  run: (ctx, input) => startSignUp(ctx, input, { password_hash: null, type: 'rate_limit_exceeded' }),
});

export const claim = operation({
  id: 'signup.claim',
  summary: 'Collect a new workspace and its starter key',
  http: 'POST /signup/claim',
  kind: 'mint',
  needs: 'anonymous',
  refuses: ['not_found', 'claim_already_collected', 'rate_limit_exceeded'],
  input: ClaimRef,
  output: Claim,
  success: { among: [200, 202], of: (answer) => (answer.status === 'pending' ? 202 : 200) },
  run: (ctx, input) => collectClaim(ctx, input),
});
