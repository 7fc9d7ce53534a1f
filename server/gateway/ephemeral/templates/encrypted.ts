import { parseLossless } from '#server/kernel/bounded-text.ts';
import { LosslessNumber } from '#server/kernel/lossless-json.ts';
import type { Step } from './expressions.ts';

/** The JSON of X-Svc-Encrypted, numbers as they were written. */
export type Encrypted = { readonly value: unknown };

const LONGEST = 16 * 1024;
const LEVELS = 64;

/** Base64 of either alphabet, padded or not, of a JSON value of at most 16 KiB; undefined when it is not that. */
export function parseEncrypted(header: string): Encrypted | undefined {
  const text = header
    .replace(/={1,2}$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  if (!/^[A-Za-z0-9+/]+$/.test(text) || text.length % 4 === 1 || text.length > Math.ceil((LONGEST * 4) / 3)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  try {
    if (bytes.length > LONGEST) return undefined;
    return { value: parseLossless(new TextDecoder('utf-8', { fatal: true }).decode(bytes), LEVELS) };
  } catch {
    return undefined;
  } finally {
    bytes.fill(0);
  }
}

/** What a path leads to; undefined where it leads nowhere. Only what the JSON itself holds is found. */
export function valueAt({ value }: Encrypted, path: readonly Step[]): { json: string; text: string | undefined } | undefined {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || found instanceof LosslessNumber) return undefined;
    if (Array.isArray(found) !== (typeof step === 'number') || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<Step, unknown>)[step];
  }
  const json = JSON.stringify(found);
  if (typeof found === 'string') return { json, text: found };
  const isScalar = typeof found !== 'object' || found === null || found instanceof LosslessNumber;
  return { json, text: isScalar ? json : undefined };
}
