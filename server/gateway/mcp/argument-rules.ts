import type { Judged, Judging } from '#server/mcp/argument-rules.thread.ts';
import { type ArgumentRule, type CompiledRules, compileRules, patternWork, type Violation, violated } from '#server/mcp/argument-rules.ts';
import { fault, type RpcFault } from '#server/mcp/errors.ts';
import { onThread, work } from '#server/platform/threads/pool.ts';

const JUDGE = work<Judging, Judged>('server/mcp/argument-rules.thread.ts');
const MS = 5_000;
/** Microseconds of what is judged here. */
const MOST_HERE = 5_000;
/** Of one workspace, as of its texts that detectors look at. */
const MOST_WAITING = 200;

const compiled = new WeakMap<readonly ArgumentRule[], CompiledRules>();

/** The first rule that the arguments break, or null; `characters` is their length as JSON. Patterns that may take longer than 5 ms run on a thread. */
export async function brokenRule(
  rules: readonly ArgumentRule[],
  args: unknown,
  { characters, owner }: { characters: number; owner: string },
): Promise<Violation | null | RpcFault> {
  if (patternWork(rules, characters) <= MOST_HERE) {
    const known = compiled.get(rules) ?? compileRules(rules);
    compiled.set(rules, known);
    return violated(known, args);
  }
  try {
    const judged = await onThread(JUDGE, { rules, args: JSON.stringify(args) }, { owner, ms: MS, most: MOST_WAITING });
    if ('broken' in judged) return judged.broken;
    const { index, member, message } = judged.problem;
    return fault(
      'argument_rule',
      `Rule ${index + 1} of this workspace about the tool's arguments can't be used: its ${member} ${message}.`,
    );
  } catch (cause) {
    const message = "The rules of this workspace about the tool's arguments could not be checked. Try again, or send shorter arguments.";
    return fault('dependency_unavailable', message, { cause });
  }
}
