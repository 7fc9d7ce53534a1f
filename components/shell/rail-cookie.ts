export const RAIL_COOKIE = 'sp_rail';

/** Whether the rail was left collapsed, from the cookie's value. */
export const readRailCollapsed = (value: string | undefined): boolean => value === 'collapsed';
