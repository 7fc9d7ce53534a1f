import { ECHO_ORIGIN } from '#server/kernel/echo-origin.ts';
import type { Target } from '#server/platform/http-out/target-url.ts';

export { ECHO_ORIGIN };

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
