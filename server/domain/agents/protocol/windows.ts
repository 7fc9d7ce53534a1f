const HOUR = 3_600_000;
const FIVE = 300_000;
/** A session outlives its window by this, so that the next one can be fetched without haste. */
const GRACE = 600_000;

/** The window that a time lies in: `YYYY-MM-DDTHH`, or the five minutes `YYYY-MM-DDTHH:MM` where the customer's own KMS holds the key (interface rule 63 §5.3). */
export function windowAt(now: Date, short: boolean): { window: string; expires_at: Date } {
  const length = short ? FIVE : HOUR;
  const start = Math.floor(now.getTime() / length) * length;
  const window = new Date(start).toISOString().slice(0, short ? 16 : 13);
  return { window, expires_at: new Date(start + length + (short ? 0 : GRACE)) };
}
