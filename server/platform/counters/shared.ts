import type { Rule, Verdict } from './decision.ts';
import type { Seeds } from './memory.ts';

/** What the store may have lost or not heard of: what is remembered of each rule's counter, and the calls that were admitted without the store. */
export type Missed = { seeds: Seeds; owed: readonly number[] };

/** Counters that several gateways share. */
export type SharedCounters = {
  /** All rules or none are counted; what was missed is counted in either case. */
  take(rules: readonly Rule[], missed?: Missed): Promise<readonly Verdict[]>;
  /** Whether the store answers: nothing is counted. */
  ask(): Promise<unknown>;
  close(): void;
};
