import { hasDigest, keyIdOf, LONGEST_KEY } from '#server/crypto/tokens.ts';
import type { SpaceSnapshot } from '../snapshot/slices.ts';
import { BAD_CREDENTIAL, type Credential, NO_CREDENTIAL } from './call.ts';

/** A text of one of our own forms, judged by its prefix alone: it is taken as a credential and never forwarded (interface rule 12 §5.1). */
export const isOurs = (text: string): boolean =>
  text.startsWith('tk_live_') || text.startsWith('tk_test_') || text.startsWith('AKE') || isToken(text);

export const isToken = (text: string): boolean => text.startsWith('svc_live_') || text.startsWith('svc_test_');

/** x-api-key is a name many upstreams use: only keys count there. */
export const isOurKey = (text: string): boolean => text.startsWith('tk_') || text.startsWith('AKE');

/** The credential of an Authorization value when it is ours, and its scheme; else undefined: then it belongs to the upstream. */
export function ourAuthorization(value: string): { text: string; scheme: 'bearer' | 'dpop' } | undefined {
  const space = value.indexOf(' ');
  if (space < 0) return undefined;
  const scheme = value.slice(0, space).toLowerCase();
  if (scheme !== 'bearer' && scheme !== 'dpop') return undefined;
  const token = value.slice(space + 1).trim();
  return isOurs(token) ? { text: token, scheme } : undefined;
}

// One of our own forms behind any scheme, or behind none: no credential of such a header counts, and no upstream may read it.
const OURS_MISPLACED = /^(?:\S*\s+)?(?:tk_(?:live|test)_|svc_(?:live|test)_|AKE[A-Z2-7]{16}:)/;

/** Whether a value of Authorization or x-api-key carries a credential of ours, however it is presented: it is never forwarded (interface rule 12 §5.1). */
export const holdsOurs = (value: string): boolean => OURS_MISPLACED.test(value);

// Compared when nobody has the key id, so that an unknown key costs what a wrong one costs.
const NOBODY = Buffer.alloc(32);

/**
 * Judges one presented text against the keys of the called space and its sibling. Unknown, foreign, revoked, expired and malformed are
 * the same `bad`; a good key of the other space is `wrong_space`.
 */
export function verify(text: string | null, snapshot: SpaceSnapshot, otherSpace: SpaceSnapshot, now: number): Credential {
  if (text === null) return NO_CREDENTIAL;
  if (text.length > LONGEST_KEY) return BAD_CREDENTIAL;
  const keyId = keyIdOf(text);
  const here = snapshot.key(keyId);
  const key = here ?? otherSpace.key(keyId);
  const matches = hasDigest(text, key?.digest ?? NOBODY);
  if (!key || !matches || key.endsAt <= now) return BAD_CREDENTIAL;
  return { state: here ? 'valid' : 'wrong_space', caller: key, fault: null };
}
