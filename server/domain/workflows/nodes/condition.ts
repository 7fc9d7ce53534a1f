import { isRecord } from '../definition.shared.ts';
import { holds, parseCondition } from '../expressions/condition.shared.ts';
import { OPERATORS, type Operator, satisfies } from '../expressions/rules.shared.ts';
import { LinearMismatch, matchesPattern } from './matching.ts';
import { evaluated, InvalidConfig, type NodeCall, type NodeKind, succeeded } from './node-call.ts';

export const condition: NodeKind = (call) => {
  const result = isTrue(call, call.config);
  return succeeded({ result }, [String(result)]);
};

/** Whether the rules, or the expression, of a condition or of a router's route hold. @throws InvalidConfig, SyntaxProblem */
export function isTrue(call: NodeCall, { mode, rules, expression }: Record<string, unknown>): boolean {
  if (mode === 'expression' || (mode === undefined && typeof expression === 'string')) {
    if (typeof expression !== 'string') throw new InvalidConfig('expression is required');
    return holds(parseCondition(expression), call.scope, call.meter);
  }
  const group = isRecord(rules) ? rules : { rules };
  if (!Array.isArray(group.rules)) throw new InvalidConfig('rules must list rules');
  const test = (rule: unknown) => ruleHolds(call, rule);
  return group.combinator === 'or' ? group.rules.some(test) : group.rules.every(test);
}

function ruleHolds(call: NodeCall, rule: unknown): boolean {
  const { left, operator, right } = isRecord(rule) ? rule : {};
  if (!OPERATORS.some((one) => one === operator)) throw new InvalidConfig('a rule has an unknown operator');
  try {
    return satisfies(evaluated(call, left), operator as Operator, evaluated(call, right), { matches: matchesPattern, meter: call.meter });
  } catch (error) {
    if (error instanceof LinearMismatch) throw new InvalidConfig(error.message);
    throw error;
  }
}
