import { Refusal } from '#server/kernel/errors.ts';
import { isRecord } from '../definition.shared.ts';
import { holds, parseCondition } from '../expressions/condition.shared.ts';
import { TooLarge } from '../expressions/meter.shared.ts';
import { type Matcher, OPERATORS, type Operator, satisfies } from '../expressions/rules.shared.ts';
import { LinearMismatch, matchesPattern } from './matching.ts';
import { evaluated, InvalidConfig, type NodeCall, type NodeKind, succeeded } from './node-call.ts';

export const condition: NodeKind = async (call) => {
  const result = await isTrue(call, call.config);
  return succeeded({ result }, [String(result)]);
};

/** Whether the rules, or the expression, of a condition or of a router's route hold. @throws InvalidConfig, SyntaxProblem */
export async function isTrue(call: NodeCall, { mode, rules, expression }: Record<string, unknown>): Promise<boolean> {
  if (mode === 'expression' || (mode === undefined && typeof expression === 'string')) {
    if (typeof expression !== 'string') throw new InvalidConfig('expression is required');
    return holds(parseCondition(expression), call.scope, call.meter);
  }
  const group = isRecord(rules) ? rules : { rules };
  if (!Array.isArray(group.rules)) throw new InvalidConfig('rules must list rules');
  const any = group.combinator === 'or';
  for (const rule of group.rules) if ((await ruleHolds(call, rule)) === any) return any;
  return !any;
}

async function ruleHolds(call: NodeCall, rule: unknown): Promise<boolean> {
  const { left, operator, right } = isRecord(rule) ? rule : {};
  if (!OPERATORS.some((one) => one === operator)) throw new InvalidConfig('a rule has an unknown operator');
  try {
    const matches: Matcher = (pattern, text, meter) => matchesPattern(pattern, text, meter, call.place.tenant_id);
    return await satisfies(evaluated(call, left), operator as Operator, evaluated(call, right), { matches, meter: call.meter });
  } catch (error) {
    if (error instanceof LinearMismatch) throw new InvalidConfig(error.message);
    if (error instanceof Refusal) throw new TooLarge('too many texts are being searched for patterns at the moment: run this again');
    throw error;
  }
}
