import type { SealedPlace } from './aad.ts';
import type { Keyring } from './keyring.ts';
import { DecryptFailed, keyVersionOf, kinds } from './svt1.ts';

/** What is sealed into a text that a client of the MCP plane keeps for us (interface rule 52 §3.2): as base64url, so that a header can carry it. */
export async function sealForClient(keyring: Keyring, place: SealedPlace, plaintext: Uint8Array): Promise<string> {
  const { ct } = await keyring.sealSmall(place, plaintext);
  return Buffer.from(ct).toString('base64url');
}

/** What was sealed; undefined for a text that isn't ours, or not for this place. Rejects when the workspace's key is unavailable. */
export async function openFromClient(keyring: Keyring, place: SealedPlace, text: string): Promise<Buffer | undefined> {
  const ct = Buffer.from(text, 'base64url');
  // A text with stray low bits would decode to the same bytes: one session, one spelling.
  if (ct.toString('base64url') !== text) return undefined;
  try {
    return await keyring.openSmall(place, { ct, tmk_version: keyVersionOf(kinds.small, ct) });
  } catch (error) {
    if (error instanceof DecryptFailed) return undefined;
    throw error;
  }
}
