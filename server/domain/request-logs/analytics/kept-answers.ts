import type { Ctx } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';

const KEPT_MS = 15_000;
/** Answers have at most 2,000 points, about 100 KB. */
const MOST_ANSWERS = 200;

type Kept = { at: number; answer: Promise<unknown> };
const state = processState('analytics-answers', () => ({ kept: new Map<string, Kept>() }));

/**
 * The answer to the same question of at most 15 seconds ago, or a new one (interface rule 70 §6). People of a workspace share it, in one space and if they may
 * see the same of it, which `rights` says; who asks while it is being counted waits for that count.
 */
export function keptAnswer<T>(ctx: Ctx, rights: readonly unknown[], question: object, count: () => Promise<T>): Promise<T> {
  const key = JSON.stringify([ctx.tenant_id, ctx.sandbox, rights, question]);
  const now = ctx.now.getTime();
  const known = state.kept.get(key);
  if (known && Math.abs(now - known.at) < KEPT_MS) return known.answer as Promise<T>;
  const answer = count();
  const kept: Kept = { at: now, answer };
  // Behind the others, so that the oldest is the first to go.
  state.kept.delete(key);
  state.kept.set(key, kept);
  for (const oldest of state.kept.keys()) {
    if (state.kept.size <= MOST_ANSWERS) break;
    state.kept.delete(oldest);
  }
  // What failed is not kept; the caller is told by the promise it has.
  answer.catch(() => state.kept.get(key) === kept && state.kept.delete(key));
  return answer;
}
