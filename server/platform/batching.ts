import { processState } from '#server/kernel/process-state.ts';

type Waiting<Item, Result> = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };
type Lane<Item, Result> = { running: boolean; due: boolean; waiting: Waiting<Item, Result>[] };

export type Batching<Item, Result> = {
  /** At most so many items in one run. */
  most: number;
  /** Results in the order of the items; what it throws reaches every caller of the run. */
  run: (items: readonly Item[]) => Promise<readonly Result[]>;
};

/**
 * Does together what is asked for together: items of one lane that come while a run is under way share the next, so a call costs a fraction of a
 * statement. An item never joins a run that has begun, so what a run reads is never older than the question.
 */
export function batching<Item, Result>(name: string, { most, run }: Batching<Item, Result>): (lane: string, item: Item) => Promise<Result> {
  const lanes = processState(`batching-${name}`, () => new Map<string, Lane<Item, Result>>());

  /** After the requests that have arrived were read. */
  function expect(key: string, lane: Lane<Item, Result>): void {
    if (lane.due || lane.running) return;
    lane.due = true;
    setImmediate(() => {
      lane.due = false;
      void next(key, lane);
    });
  }

  async function next(key: string, lane: Lane<Item, Result>): Promise<void> {
    const batch = lane.waiting.splice(0, most);
    lane.running = true;
    try {
      const results = await run(batch.map(({ item }) => item));
      for (let i = 0; i < batch.length; i++) batch[i]?.resolve(results[i] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      lane.running = false;
      if (lane.waiting.length > 0) expect(key, lane);
      else lanes.delete(key);
    }
  }

  return (key, item) => {
    const lane = lanes.get(key) ?? { running: false, due: false, waiting: [] };
    lanes.set(key, lane);
    return new Promise((resolve, reject) => {
      lane.waiting.push({ item, resolve, reject });
      expect(key, lane);
    });
  };
}
