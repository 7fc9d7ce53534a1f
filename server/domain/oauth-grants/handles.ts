import { randomBase64url } from '#server/crypto/random.ts';
import { digest } from '#server/crypto/tokens.ts';

/** The address of a page that waits for one person's decision: 128 bits, stored as their digest. */
export const newHandle = (): string => randomBase64url(16);
const HANDLE = /^[A-Za-z0-9_-]{22}$/;
export const isHandle = (text: string): boolean => HANDLE.test(text);
export const handleDigest = (handle: string) => new Uint8Array(digest(handle));
