import { grouped } from '#components/ui/numbers.ts';

/** How long something is kept; null is without an end. */
export const daysKept = (days: number | null): string => (days === null ? 'Forever' : days === 1 ? '1 day' : `${grouped(days)} days`);
