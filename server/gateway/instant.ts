let second = -1;
let prefix = '';

/** ISO 8601 with milliseconds, as toISOString; formats the part above the milliseconds once per distinct second. */
export function isoInstant(epochMs: number): string {
  const whole = Math.floor(epochMs / 1000);
  if (whole !== second) {
    second = whole;
    prefix = new Date(whole * 1000).toISOString().slice(0, 20);
  }
  const ms = Math.floor(epochMs) - whole * 1000;
  return `${prefix}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}
