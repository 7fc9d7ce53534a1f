import { parseExact } from '#server/kernel/lossless-json.ts';
import { type ArgumentRule, compileRules, RuleProblem, type Violation, violated } from './argument-rules.ts';

/** `args` is JSON, because a number with digits of its own doesn't come through to a thread. */
export type Judging = { rules: readonly ArgumentRule[]; args: string };
/** Which rule the arguments break, or the first rule that makes no sense. */
export type Judged = { broken: Violation | null } | { problem: Pick<RuleProblem, 'index' | 'member' | 'message'> };

/** Holds arguments against rules whose patterns may take long. The deadline of the thread ends it. */
export function run({ rules, args }: Judging): Judged {
  try {
    return { broken: violated(compileRules(rules), parseExact(args)) };
  } catch (error) {
    if (!(error instanceof RuleProblem)) throw error;
    const { index, member, message } = error;
    return { problem: { index, member, message } };
  }
}
