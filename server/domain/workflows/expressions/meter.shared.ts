/** Something is larger, or takes more work, than it may. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** Characters that a text may grow to. */
export const MOST_TEXT = 5 * 1024 * 1024;
/** What the evaluation of one node may look at and make, some tens of milliseconds: a character counts 1, an item, a member and a step as these. */
export const MOST_WORK = 8_000_000;
export const COST = { item: 40, member: 120, step: 20 } as const;

/** What is left of the work that one node may be. Everything is charged before it's done. */
export type Meter = { left: number };
export const newMeter = (): Meter => ({ left: MOST_WORK });

/** @throws TooLarge */
export function charge(meter: Meter, units: number): void {
  meter.left -= units;
  if (meter.left < 0) throw new TooLarge('evaluating this step takes too much work: give it shorter texts or lists, or fewer placeholders');
}

/** A text that may be made. @throws TooLarge */
export function assertShort(length: number): void {
  if (length > MOST_TEXT) throw new TooLarge('a value is larger than 5 MiB');
}

/** Charges for everything in a value: its texts by their length, its items and members each. @throws TooLarge, also for a value that is too deep */
export function chargeWhole(meter: Meter, value: unknown): void {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let one = open.pop(); one; one = open.pop()) {
    const { value: part, depth } = one;
    if (typeof part === 'string') charge(meter, part.length);
    if (typeof part !== 'object' || part === null) continue;
    if (depth === DEEPEST) throw new TooLarge(`a value is more than ${DEEPEST} levels deep`);
    const inside: unknown[] = Array.isArray(part) ? part : Object.values(part);
    charge(meter, inside.length * (Array.isArray(part) ? COST.item : COST.member));
    for (const item of inside) if (typeof item === 'string' || typeof item === 'object') open.push({ value: item, depth: depth + 1 });
  }
}
const DEEPEST = 500;
