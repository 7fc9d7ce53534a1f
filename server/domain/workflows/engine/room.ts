import type { JsonSize } from './json-size.ts';

/** What all executions of a worker may hold in memory, by estimate. One holds at most about 45 MB, so several always go on. */
const MOST_HELD = 384 * 1024 * 1024;
/** In memory, a byte of JSON is up to two, and a value some fifty more. */
const COST = { byte: 2, value: 50 } as const;

/** The memory of a worker for the values of its executions, shared fairly. */
export type Room = {
  /** Says what an execution holds now. */
  holds(execution: string, sizes: Iterable<JsonSize>): void;
  /** Whether it is to wait in the database until there is room again: it holds more than its share of too much. Then it counts as gone. */
  stepsBack(execution: string): boolean;
  leaves(execution: string): void;
  /** Whether nothing more is to be claimed. */
  isFull(): boolean;
};

export function openRoom(most = MOST_HELD): Room {
  const held = new Map<string, number>();
  let total = 0;
  const leaves = (execution: string) => {
    total -= held.get(execution) ?? 0;
    held.delete(execution);
  };
  return {
    holds(execution, sizes) {
      leaves(execution);
      let bytes = 0;
      for (const size of sizes) bytes += size.bytes * COST.byte + size.values * COST.value;
      held.set(execution, bytes);
      total += bytes;
    },
    stepsBack(execution) {
      const own = held.get(execution) ?? 0;
      if (total <= most || held.size < 2 || own < total / held.size) return false;
      leaves(execution);
      return true;
    },
    leaves,
    isFull: () => total > most,
  };
}
