import { looksLikeCredential } from '#server/domain/routes/config/literal-credential.shared.ts';
import { DRAFT_PREFIX } from './forget-drafts.ts';

/**
 * What was typed into a form and not saved, in the storage of this tab: it survives a reload, a wrong turn and a new sign-in, and goes with
 * the tab. Nothing that is or may be a secret is ever put there (interface rule 70 §3.5).
 */
export type Draft = {
  /** When it was typed last. */
  at: string;
  /** The version of the row it was typed over. */
  version?: string | undefined;
  /** The fields that were changed: what they were, and what they were made. */
  base: Record<string, unknown>;
  values: Record<string, unknown>;
  /** Changed fields that are not kept, because they hold or may hold a credential. */
  left_out: string[];
};

/** Whose draft of which form: two people of one tab, two workspaces and two spaces never meet. */
export type DraftPlace = { person: string; slug: string; space: string; form: string };

const LARGEST = 64 * 1024;
const keyOf = ({ person, slug, space, form }: DraftPlace) => `${DRAFT_PREFIX}${[person, slug, space, form].join('/')}`;

/** Keeps what may be kept of the changed fields, or drops the draft when nothing is left of it. `secret` names fields that never are. */
export function keepDraft(place: DraftPlace, draft: Omit<Draft, 'left_out'>, secret: readonly string[] = []): void {
  const left_out = Object.keys(draft.values).filter((field) => secret.includes(field) || isTelling(draft.values[field]));
  const kept = (of: Record<string, unknown>) => Object.fromEntries(Object.entries(of).filter(([field]) => !left_out.includes(field)));
  const values = kept(draft.values);
  const text = JSON.stringify({ ...draft, base: kept(draft.base), values, left_out } satisfies Draft);
  try {
    if (Object.keys(values).length > 0 && text.length <= LARGEST) sessionStorage.setItem(keyOf(place), text);
    else sessionStorage.removeItem(keyOf(place));
  } catch {
    // No storage, or no room in it: the page still asks before it is left.
  }
}

/** What was left at a place; undefined for nothing, and for what cannot be read. */
export function draftAt(place: DraftPlace): Draft | undefined {
  try {
    const found = JSON.parse(sessionStorage.getItem(keyOf(place)) ?? 'null') as Draft | null;
    return found && typeof found.values === 'object' && typeof found.base === 'object' ? found : undefined;
  } catch {
    return undefined; // no storage, or not ours
  }
}

/** Forgets what was left at a place. */
export function dropDraft(place: DraftPlace): void {
  try {
    sessionStorage.removeItem(keyOf(place));
  } catch {
    // nothing was kept
  }
}

/** Whether a value, or anything in it, looks like a credential: by its shape, by the name it stands under, or as part of an address. */
export function isTelling(value: unknown, name = ''): boolean {
  if (typeof value === 'string') return looksLikeCredential(name, value) !== undefined || IN_ADDRESS.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([member, inner]) => isTelling(inner, member));
}

/** `https://user:password@host` and `?api_key=…`. */
const IN_ADDRESS = /:\/\/[^/\s?#]*@|[?&;][\w.-]*(?:key|token|secret|sig|signature|password|auth|code)=[^&\s]/i;
