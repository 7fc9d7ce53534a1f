import { doubleOf } from '../expressions/numbers.shared.ts';
import { evaluated, failed, InvalidConfig, type NodeKind } from './node-call.ts';

const MOST_ITERATIONS = 1_000;

/** Only names its items: the engine makes the iterations. Evaluated again by a worker that takes the execution over. */
export const loop: NodeKind = (call) => {
  const { items: given, maxIterations } = call.config;
  const items = evaluated(call, given);
  if (!Array.isArray(items)) throw new InvalidConfig('items must be a list');
  const most = Math.min(doubleOf(maxIterations) ?? MOST_ITERATIONS, MOST_ITERATIONS);
  if (items.length > most) return failed('loop_limit', `The loop has ${items.length} items and may have ${most}.`);
  return { status: 'looping', items, input: { count: items.length } };
};
