import type { Pace } from './http-out/request-out.ts';

/** What one call sends and receives. */
export type Transfer = { received: ReturnType<Pace>; done(): void };

/** Bodies of calls that are on their way, which are in memory until their calls are done. */
export type InFlight = {
  /** Begins to count a call, with the bytes that it sends. */
  begin(sent: number, resume: () => void): Transfer;
  /** Bytes of memory, by estimate. */
  bytes(): number;
  /** Resumes what may be read on, after other memory became free. */
  resumeNext(): void;
};

/** A byte that is on its way is in a buffer, in a text and in what is made of it. */
const COST = 4;
/** Answers that are read on above the limit, so that there is an end to it: those that came first. */
const GO_ON = 4;

type Counted = { bytes: number; resume: () => void; paused: boolean };

/** Above `most` bytes, together with what else is in memory, answers aren't read on until there is room; the timeouts of their calls run on. */
export function openInFlight(most: number, others: () => number = () => 0): InFlight {
  const transfers = new Set<Counted>();
  /** Those that receive something, the first first. */
  const reading = new Set<Counted>();
  let total = 0;
  const mayRead = (one: Counted) =>
    total + others() <= most ||
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
  const count = (one: Counted, bytes: number) => {
    total += bytes - one.bytes;
    one.bytes = bytes;
  };
  return {
    begin(sent, resume) {
      const one: Counted = { bytes: 0, resume, paused: false };
      transfers.add(one);
      count(one, sent * COST);
      return {
        received(bytes) {
          if (!transfers.has(one)) return true;
          reading.add(one);
          count(one, (sent + bytes) * COST);
          one.paused = !mayRead(one);
          return !one.paused;
        },
        done() {
          transfers.delete(one);
          reading.delete(one);
          count(one, 0);
          resumeNext();
        },
      };
    },
    bytes: () => total,
    resumeNext,
  };
}
