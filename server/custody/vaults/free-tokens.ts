import { randomInteger } from '#server/crypto/random.ts';
import type { Format } from './formats/format.ts';
import { takenTexts } from './token-rows.ts';
import type { VaultSpace } from './vaults.ts';

/** Texts that are looked up at once. */
const CHUNK = 10_000;
/** A space as large as this is looked through in parts only. */
const MOST_CHUNKS = 100;

/** A free token of a value, where random ones are nearly all taken; null when none is left. */
export async function freeTokens(
  space: VaultSpace,
  { size, nth }: NonNullable<Format['space']>,
  normalised: string,
  stored: string,
): Promise<string | null> {
  const all = size(normalised);
  const chunks = Math.ceil(all / CHUNK);
  const first = randomInteger(Math.min(chunks, 2 ** 40));
  for (let i = 0; i < Math.min(chunks, MOST_CHUNKS); i++) {
    const from = ((first + i) % chunks) * CHUNK;
    const texts = Array.from({ length: Math.min(CHUNK, all - from) }, (_, n) => nth(normalised, from + n));
    const taken = await takenTexts(space, texts);
    const free = texts.filter((text) => !taken.has(text) && text !== normalised && text !== stored);
    if (free.length > 0) return free[randomInteger(free.length)] ?? null;
  }
  return null;
}
