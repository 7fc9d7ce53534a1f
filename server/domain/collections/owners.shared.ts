/** People who may answer for one collection. */
export const MOST_OWNERS = 10;
