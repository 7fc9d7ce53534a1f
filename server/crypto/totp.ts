import { createHmac, type KeyObject } from 'node:crypto';
import { base32 } from './base32.ts';
import { digestEquals } from './tokens.ts';

/** Authenticator apps (RFC 6238 with SHA-1, six digits and 30 seconds, which is what all of them speak). */
const STEP_SEC = 30;

/** The time step of a moment. */
export const totpStep = (at: Date): number => Math.floor(at.getTime() / 1000 / STEP_SEC);

/** The code of a step: HOTP of RFC 4226 §5.3 over it. */
export function totpCode(seed: KeyObject | Uint8Array, step: number, digits = 6): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', seed).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 15;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * The step that a code is of, among the current one and its neighbours, if it is later than `last`: no step is accepted twice (RFC 6238 §5.2). Null for a
 * wrong or used code. Every step of the window is computed and compared, whichever matches.
 */
export function matchingStep(seed: KeyObject | Uint8Array, code: string, at: Date, last: number): number | null {
  const given = Buffer.from(code);
  const now = totpStep(at);
  let found: number | null = null;
  for (const step of [now - 1, now, now + 1])
    if (digestEquals(given, Buffer.from(totpCode(seed, step))) && step > last && found === null) found = step;
  return found;
}

/** What an authenticator app scans. The label says whose account it is. */
export const otpauthUri = (account: string, seed: Uint8Array): string =>
  `otpauth://totp/${encodeURIComponent(`Sallyport:${account}`)}?secret=${base32(seed)}&issuer=Sallyport&algorithm=SHA1&digits=6&period=${STEP_SEC}`;
