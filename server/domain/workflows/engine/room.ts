import type { JsonSize } from './json-size.ts';

/** What all executions of a worker may hold in memory, by estimate. One holds at most about 45 MB, so several always go on. */
const MOST_HELD = 384 * 1024 * 1024;
/** In memory, a byte of JSON is up to two, and a value some fifty more. A byte that is on its way is in a buffer, in a text and in what is made of it. */
const COST = { byte: 2, value: 50, inFlight: 4 } as const;

/** What one call of an execution sends and receives. */
export type Transfer = {
  /** Says how many bytes it has received by now. Above the limit only some go on: false means to read no more until it is resumed. */
  received(bytes: number): boolean;
  done(): void;
};

/** The memory of a worker for the values of its executions, shared fairly. */
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

/** Answers that are read on above the limit, so that there is an end to it: those that came first. */
const GO_ON = 4;

type Counted = { execution: string; bytes: number; resume: () => void; paused: boolean };

export function openRoom(most = MOST_HELD): Room {
  const held = new Map<string, number>();
  const transfers = new Set<Counted>();
  /** Those that receive something, the first first. */
  const reading = new Set<Counted>();
  let total = 0;
  const release = (execution: string) => {
    total -= held.get(execution) ?? 0;
    held.delete(execution);
  };
  const mayRead = (one: Counted) =>
    total <= most ||
    reading
      .values()
      .take(GO_ON)
      .some((other) => other === one);
  const resumeNext = () => {
    for (const one of reading)
      if (one.paused && mayRead(one)) {
        one.paused = false;
        one.resume();
      }
  };
  const end = (one: Counted) => {
    if (!transfers.delete(one)) return;
    reading.delete(one);
    total -= one.bytes;
  };
  return {
    holds(execution, sizes) {
      release(execution);
      let bytes = 0;
      for (const size of sizes) bytes += size.bytes * COST.byte + size.values * COST.value;
      held.set(execution, bytes);
      total += bytes;
      resumeNext();
    },
    transfer(execution, sent, resume) {
      const one: Counted = { execution, bytes: sent * COST.inFlight, resume, paused: false };
      transfers.add(one);
      total += one.bytes;
      return {
        received(bytes) {
          if (!transfers.has(one)) return true;
          reading.add(one);
          total -= one.bytes;
          one.bytes = (sent + bytes) * COST.inFlight;
          total += one.bytes;
          one.paused = !mayRead(one);
          return !one.paused;
        },
        done() {
          end(one);
          resumeNext();
        },
      };
    },
    stepsBack(execution) {
      const own = held.get(execution) ?? 0;
      if (total <= most || held.size < 2 || own < total / held.size) return false;
      release(execution);
      resumeNext();
      return true;
    },
    leaves(execution) {
      release(execution);
      for (const one of [...transfers]) if (one.execution === execution) end(one);
      resumeNext();
    },
    isFull: () => total > most,
  };
}
