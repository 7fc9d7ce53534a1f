import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import type { EntryDetails } from './entries.ts';

/** An item's answer, or what refused it. */
export type ItemResult<Out> = Out | Failure;
type Failure = { error: { type: string; message: string } };

export type Batch<Out> = { batch_results: ItemResult<Out>[] };

/** This long items may keep the thread that serves everyone. */
const SLICE_MS = 5;

/**
 * The answer to one item or to a batch, what succeeded, and what the audit entry says of a batch. Items are answered in their order, each by itself
 * (interface rule 40 §10.1). @throws Refusal validation_error when none succeeded, and whatever isn't the fault of one item
 */
export async function carriedOut<Item, Out>(
  input: Partial<Item> & { batch?: Item[] | undefined },
  one: (item: Item) => Out | Promise<Out>,
) {
  if (input.batch === undefined) {
    // The schema has seen to what a single item must have.
    const answer = await one(input as Item);
    return { answer, done: [answer], of: {} as EntryDetails };
  }
  const results: ItemResult<Out>[] = [];
  const done: Out[] = [];
  let since = performance.now();
  for (const item of input.batch) {
    try {
      const answer = one(item);
      const out = answer instanceof Promise ? await answer : answer;
      results.push(out);
      done.push(out);
    } catch (error) {
      results.push(failureOf(error));
    }
    if (performance.now() - since < SLICE_MS) continue;
    await new Promise(setImmediate);
    since = performance.now();
  }
  if (done.length === 0) throw new Refusal('validation_error', `batch: every item failed. 0: ${(results[0] as Failure).error.message}`);
  const of: EntryDetails = { items: done.length, failed: results.length - done.length };
  return { answer: { batch_results: results } satisfies Batch<Out>, done, of };
}

function failureOf(error: unknown): Failure {
  const refusal = asRefusal(error);
  if (refusal.status >= 500) throw error;
  return { error: { type: refusal.type, message: refusal.message } };
}
