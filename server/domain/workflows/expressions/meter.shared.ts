import { isExact } from '#server/kernel/lossless-number.ts';

/** Something is larger, or takes more work, than it may. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** Characters that a text may grow to. */
export const MOST_TEXT = 5 * 1024 * 1024;
/** What the evaluation of one node may look at and make. A unit is some nanoseconds, so that all of them stay under 50 ms whatever the shape is. */
export const MOST_WORK = 8_000_000;
/**
 * Units of an item, a member, a step, a piece of a text, a number that keeps its digits, a character that is escaped or converted, and one of a template
 * that is parsed. Others count 1.
 * A member of an object that has many is looked up in a table, which takes three times as long.
 */
export const COST = { item: 40, member: 50, memberOfMany: 120, step: 20, exact: 80, piece: 12, escape: 8, parse: 5 } as const;
const MANY = 512;
export const costOfMembers = (count: number): number => count * (count > MANY ? COST.memberOfMany : COST.member);

/** Milliseconds that the patterns of one node may search. */
const MOST_SEARCHING = 10_000;
/** What is left of the work that one node may be. Everything is charged before it's done, but searches on threads, which have a deadline. */
export type Meter = { left: number; searching: number };
export const newMeter = (): Meter => ({ left: MOST_WORK, searching: MOST_SEARCHING });

/** @throws TooLarge */
export function charge(meter: Meter, units: number): void {
  meter.left -= units;
  if (meter.left < 0)
    throw new TooLarge(
      `evaluating this step takes more work than ${MOST_WORK / 1_000_000} million units, the limit: give it shorter texts or lists, or fewer placeholders`,
    );
}

/** A text that may be made. @throws TooLarge */
export function assertShort(length: number): void {
  if (length > MOST_TEXT) throw new TooLarge('a value is larger than 5 MiB, the limit: use a part of it');
}

/** Charges for a value written as JSON, `times` times: texts and names by their length there, items and members each. @throws TooLarge, also for a value that is too deep */
export function chargeWhole(meter: Meter, value: unknown, times = 1): void {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let one = open.pop(); one; one = open.pop()) {
    const { value: part, depth } = one;
    if (typeof part === 'string') chargeText(meter, part, times);
    if (typeof part !== 'object' || part === null) continue;
    if (isExact(part)) {
      charge(meter, (COST.exact + String(part).length) * times);
      continue;
    }
    if (depth === DEEPEST) throw new TooLarge(`a value is more than ${DEEPEST} levels deep, the limit`);
    const isList = Array.isArray(part);
    if (isList) charge(meter, part.length * COST.item * times);
    const names = isList ? [] : Object.keys(part);
    charge(meter, costOfMembers(names.length) * times);
    for (const name of names) chargeText(meter, name, times);
    for (const item of isList ? part : Object.values(part))
      if (typeof item === 'string' || typeof item === 'object') open.push({ value: item, depth: depth + 1 });
  }
}
const DEEPEST = 500;

/** A text as JSON has it: a control character becomes six. */
function chargeText(meter: Meter, text: string, times: number): void {
  charge(meter, text.length * times);
  let escaped = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) escaped++;
  }
  charge(meter, escaped * COST.escape * times);
}
