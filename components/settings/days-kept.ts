import { grouped } from '#components/ui/numbers.ts';

/** How long something is kept; null is without an end. */
export const daysKept = (days: number | null): string =>
  days === null ? 'without an end' : days === 1 ? '1 day' : `${grouped(days)} days`;
