const DAY = 86_400_000;
/** Days are kept for 400: twelve whole months and the one at hand are always there. */
const MONTHS = 13;

export type Month = { id: string; label: string; from: string; to: string };

/** `2026-03` with its first and last day; the month at hand ends with its last day too, so that what is left of it is seen. */
export function monthOf(id: string): Month {
  const [year = 0, month = 0] = id.split('-').map(Number);
  const iso = (at: number) => new Date(at).toISOString().slice(0, 10);
  const first = Date.UTC(year, month - 1, 1);
  return {
    id,
    label: new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(first),
    from: iso(first),
    to: iso(Date.UTC(year, month, 1) - DAY),
  };
}

/** The month of a billing period and those before it, newest first. */
export function monthsBefore(year: number, month: number): Month[] {
  return Array.from({ length: MONTHS }, (_, back) => monthOf(new Date(Date.UTC(year, month - 1 - back, 1)).toISOString().slice(0, 7)));
}

/** The day on which a steady pace passes the limit; undefined when it does not within the month. */
export function limitDay({ used, limit, now }: { used: number; limit: number; now: number }): string | undefined {
  const at = new Date(now);
  const start = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  const end = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
  if (used <= 0 || used >= limit) return undefined;
  const reached = start + ((now - start) / used) * limit;
  return reached < end ? new Date(reached).toISOString().slice(0, 10) : undefined;
}
