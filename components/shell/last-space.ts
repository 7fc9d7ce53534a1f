import { useEffect, useSyncExternalStore } from 'react';
import { remember } from '#components/theme/appearance-provider.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { readSpace, SPACE_COOKIE } from './space-cookie.ts';

const unchanging = () => () => undefined;

/**
 * Where the links of a page lead that belongs to no space: back to the one the person came from, never silently from Test to Live.
 * Pages of a space leave theirs in the cookie; `cookie` is what the server read, for the first paint.
 */
export function useLastSpace(space: Space, partitioned: boolean, cookie: Space): Space {
  useEffect(() => {
    if (partitioned) remember(SPACE_COOKIE, space);
  }, [space, partitioned]);
  const last = useSyncExternalStore(
    unchanging,
    () =>
      readSpace(
        document.cookie
          .split('; ')
          .find((pair) => pair.startsWith(`${SPACE_COOKIE}=`))
          ?.slice(SPACE_COOKIE.length + 1),
      ),
    () => cookie,
  );
  return partitioned ? space : last;
}
