import { nextStepOf, refusalOf } from '#components/trpc/refusal.ts';
import type { Command } from './commands.ts';
import { Stopped } from './execute.ts';
import { LineProblem } from './line-problem.ts';
import { LookupFailed } from './resource-names.ts';
import type { Output } from './session.ts';

/** What is shown of a call that ended without an answer of the service. */
export function outputOfFailure(error: unknown, { op }: Command): Output {
  if (error instanceof LineProblem) return { kind: 'problem', what: 'Not sent', message: error.message, next: error.next };
  if (error instanceof Stopped) {
    const mayBeDone = error.sent && op.method !== 'GET';
    const late = op.shownOnce.length > 0 ? ' You’ll still get any value that is shown once.' : '';
    const text = `Canceled. The call may still have gone through; check before you repeat it.${late}`;
    return { kind: 'note', text: mayBeDone ? text : 'Canceled.' };
  }
  if (error instanceof LookupFailed) {
    const { message, next, requestId } = lookupProblem(error);
    return { kind: 'problem', what: 'Not sent', message, next, requestId };
  }
  const { message, code, status, request_id } = refusalOf(error);
  return { kind: 'problem', what: whatOf(status), message, next: nextStepOf(code), requestId: request_id || undefined };
}

export const whatOf = (status: number) => (status >= 400 && status < 500 ? 'Refused' : 'Failed');

/** Why a name is not known, and what to do about it. */
export function lookupProblem({ cause }: Error): { message: string; next: string | undefined; requestId: string | undefined } {
  const { message, code, request_id } = refusalOf(cause);
  return { message: `Names couldn’t be looked up. ${message}`, next: nextStepOf(code), requestId: request_id || undefined };
}
