/** Where the person went from the palette, in this browser and workspace: names and addresses only, forgotten at sign-out. */
export type Recent = { id: string; type: string; title: string; url: string; space: 'live' | 'test' };

const KEPT = 8;
/** What the keys of all that is forgotten at sign-out begin with. */
export const RECENT_PREFIX = 'recent:';

/** What was visited lately in a workspace, the last first. */
export function recentsOf(slug: string): Recent[] {
  try {
    const rows: unknown = JSON.parse(localStorage.getItem(RECENT_PREFIX + slug) ?? '[]');
    return Array.isArray(rows)
      ? (rows as Recent[]).filter(({ url, title }) => url?.startsWith(`/${slug}/`) && typeof title === 'string')
      : [];
  } catch {
    return []; // no storage, or not ours
  }
}

/** Notes a visit. */
export function addRecent(slug: string, recent: Recent): void {
  try {
    const others = recentsOf(slug).filter(({ url }) => url !== recent.url);
    localStorage.setItem(RECENT_PREFIX + slug, JSON.stringify([recent, ...others].slice(0, KEPT)));
  } catch {
    // private windows may have no storage; the palette works without
  }
}

/** At sign-out: nobody else learns what was visited. */
export function forgetRecents(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(RECENT_PREFIX)) localStorage.removeItem(key);
  } catch {
    // nothing was kept
  }
}
