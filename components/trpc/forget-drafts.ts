/** What the keys of drafts begin with in the storage of a tab. */
export const DRAFT_PREFIX = 'draft:';

/** At sign-out all of them; given a person, those of everybody else who used this tab. */
export function forgetDrafts(except?: string): void {
  try {
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith(DRAFT_PREFIX) && !(except && key.startsWith(`${DRAFT_PREFIX}${except}/`))) sessionStorage.removeItem(key);
  } catch {
    // nothing was kept
  }
}
