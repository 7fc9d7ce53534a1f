// A call writes the present and the ends of two windows: a few seconds are in use at a time.
const SLOTS = 16;
const seconds = new Array<number>(SLOTS).fill(-1);
const prefixes = new Array<string>(SLOTS).fill('');

/** ISO 8601 with milliseconds, as toISOString; formats the part above the milliseconds once per distinct second. */
export function isoInstant(epochMs: number): string {
  const whole = Math.floor(epochMs / 1000);
  const slot = whole & (SLOTS - 1);
  if (seconds[slot] !== whole) {
    seconds[slot] = whole;
    prefixes[slot] = new Date(whole * 1000).toISOString().slice(0, 20);
  }
  const ms = Math.floor(epochMs) - whole * 1000;
  return `${prefixes[slot]}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}
