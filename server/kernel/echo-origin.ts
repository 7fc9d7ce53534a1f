/**
 * The reserved target of the demonstration route: the gateway answers it itself, by exact origin and before any name is looked up; every other URL
 * below `.internal` is refused.
 */
export const ECHO_ORIGIN = 'http://echo.sallyport.internal';

/** ECHO_ORIGIN, alone or followed by a plain path. */
export const isEchoUrl = (url: string): boolean =>
  url === ECHO_ORIGIN || (url.startsWith(`${ECHO_ORIGIN}/`) && /^[\w./~-]*$/.test(url.slice(ECHO_ORIGIN.length)));
