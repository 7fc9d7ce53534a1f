// What pages reckon with themselves, apart from the wire's schema: a page that only shows calls must not bring a validator with it.

const MINUTE = 60_000;

/**
 * Where a span of `ms` that ends at `now` begins, everywhere: at a whole minute, the minute at hand being its last. Figures are kept by the
 * minute; so Home, the list of routes, the log and its chart speak of the same calls.
 */
export const spanStart = (now: number, ms: number): Date => new Date(Math.ceil(now / MINUTE) * MINUTE - ms);

/** How a call ended: `failed` is refused by us, answered with 5xx, or broken off; `refused` is the part of it that never got past us. */
export const OUTCOMES = ['ok', 'failed', 'refused'] as const;

/** What the days of the calls can be split by. */
export const SPLITS = ['route', 'client', 'api_key', 'environment'] as const;
