import { openInFlight, type Transfer } from '#server/platform/in-flight.ts';
import type { JsonSize } from './json-size.ts';

/** What all executions of a worker may hold in memory, by estimate. One holds at most about 45 MB, so several always go on. */
const MOST_HELD = 384 * 1024 * 1024;
/** In memory, a byte of JSON is up to two, and a value some fifty more. */
const COST = { byte: 2, value: 50 } as const;

/** The memory of a worker for the values of its executions and the bodies of their calls, shared fairly. */
export type Room = {
  /** Says what an execution holds now. */
  holds(execution: string, sizes: Iterable<JsonSize>): void;
  /** Begins to count what a call of an execution has in flight, with the bytes that it sends. */
  transfer(execution: string, sent: number, resume: () => void): Transfer;
  /** Whether it is to wait in the database until there is room again: it holds more than its share of too much. Then it counts as gone. */
  stepsBack(execution: string): boolean;
  /** Forgets an execution, and what its calls have in flight. */
  leaves(execution: string): void;
  /** Whether nothing more is to be claimed. */
  isFull(): boolean;
};

export function openRoom(most = MOST_HELD): Room {
  const held = new Map<string, number>();
  const transfers = new Map<string, Set<Transfer>>();
  let values = 0;
  const inFlight = openInFlight(most, () => values);
  const isFull = () => values + inFlight.bytes() > most;
  const count = (execution: string, bytes: number | null) => {
    values += (bytes ?? 0) - (held.get(execution) ?? 0);
    if (bytes === null) held.delete(execution);
    else held.set(execution, bytes);
    inFlight.resumeNext();
  };
  return {
    holds(execution, sizes) {
      let bytes = 0;
      for (const size of sizes) bytes += size.bytes * COST.byte + size.values * COST.value;
      count(execution, bytes);
    },
    transfer(execution, sent, resume) {
      const { received, done } = inFlight.begin(sent, resume);
      const all = transfers.get(execution) ?? new Set();
      transfers.set(execution, all);
      const one: Transfer = {
        received,
        done() {
          all.delete(one);
          done();
        },
      };
      all.add(one);
      return one;
    },
    stepsBack(execution) {
      const own = held.get(execution) ?? 0;
      if (!isFull() || held.size < 2 || own < (values + inFlight.bytes()) / held.size) return false;
      count(execution, null);
      return true;
    },
    leaves(execution) {
      for (const one of transfers.get(execution) ?? []) one.done();
      transfers.delete(execution);
      count(execution, null);
    },
    isFull,
  };
}
