'use client';

import { useSearchParams } from 'next/navigation';
import { createSerializer, parseAsString } from 'nuqs/server';
import { isOpenIn, isSamePageExcept } from './panel-address.ts';

/**
 * A panel or a form that the address keeps open under `key`, so that it outlives a reload and can be shared. Opening it is a step that Back takes
 * back; showing another thing in it is none.
 */
export function usePanel(key: string) {
  const id = useSearchParams().get(key);
  return {
    /** What it shows; null while it is closed. */
    id,
    open: (next: string) => writePanel(key, next, id === null ? 'push' : 'replace'),
    close: () => closePanel(key),
  };
}

/** Steps of the history that opened a panel, as long as this document lives: going back over an older one fetches the page anew. */
const opened = new Set<string>();

/** Writes what a panel shows into the address, at once: a panel that is closed again in the same breath finds its step there. */
export function writePanel(key: string, id: string | null, how: 'push' | 'replace'): void {
  const { pathname, search, hash } = window.location;
  const to = createSerializer({ [key]: parseAsString })(pathname + search, { [key]: id });
  window.history[`${how}State`](null, '', to + hash);
  const step = how === 'push' && navigationOf()?.currentEntry?.key;
  if (step) opened.add(step);
}

/**
 * Closes a panel by going back to before it was opened: a step of its own would make the next Back open it again, and none at all leaves the
 * same page twice. Where it was opened by its link, or by an earlier document, it is taken out of the address.
 */
export async function closePanel(key: string): Promise<void> {
  const navigation = navigationOf();
  const { key: step = '', index = 0, url } = navigation?.currentEntry ?? {};
  const before = navigation?.entries()[index - 1];
  if (opened.has(step) && url && before?.url && isOpenIn(key, url) && isSamePageExcept(key, url, before.url)) {
    navigation?.addEventListener('navigate', stayInPlace, { once: true });
    await navigation?.back().finished?.catch(() => undefined);
  }
  if (isOpenIn(key, window.location.href)) writePanel(key, null, 'replace');
}

/** The list may have been read on beside its panel: it does not jump to where it stood when that was opened. */
function stayInPlace(event: NavigateEvent): void {
  if (event.canIntercept) event.intercept({ scroll: 'manual', focusReset: 'manual' });
}

/** Firefox before 147 and Safari before 26.2 do not tell what is behind: there a panel that is closed leaves its page twice. */
const navigationOf = (): Navigation | undefined => ('navigation' in window ? window.navigation : undefined);
