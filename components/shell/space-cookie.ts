import type { Space } from '#components/ui/test-band.tsx';

export const SPACE_COOKIE = 'sp_space';

/** The space a person was in last, from the cookie's value; everybody begins in Test. */
export const readSpace = (value: string | undefined): Space => (value === 'live' ? 'live' : 'test');
