import type { Target } from '#server/platform/http-out/target-url.ts';

/**
 * The reserved target of the demonstration route. The gateway alone understands it, by exact origin and before any name is looked up;
 * every other URL below `.internal` is refused by the guard.
 */
export const ECHO_ORIGIN = 'http://echo.sallyport.internal';

/** `url` is ECHO_ORIGIN, alone or followed by a path. */
export function echoTarget(url: string): Target {
  return {
    scheme: 'http',
    host: 'echo.sallyport.internal',
    port: 80,
    authority: 'echo.sallyport.internal',
    path: url.slice(ECHO_ORIGIN.length),
  };
}
