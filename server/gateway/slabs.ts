/** Bytes of one size class each. A larger answer streams. */
const SIZES = [32, 128, 512, 1024].map((kibibytes) => kibibytes * 1024);
/** Kept for the next answer, all sizes together. */
const KEPT_BYTES = 16 * 1024 * 1024;

const free = new Map<number, Buffer[]>(SIZES.map((size) => [size, []]));
let kept = 0;

/**
 * Memory for a body that passes through: at least `bytes` long (at most 1 MiB), with whatever was in it before. Taking it from the system and
 * leaving it to the garbage collector for each call costs more than all copying of the body.
 */
export function takeSlab(bytes: number): Buffer {
  const size = SIZES.find((candidate) => candidate >= bytes);
  if (size === undefined) return Buffer.allocUnsafeSlow(bytes);
  const slab = free.get(size)?.pop();
  if (!slab) return Buffer.allocUnsafeSlow(size);
  kept -= size;
  return slab;
}

/** Gives a slab back that nobody reads any more. When in doubt, do not: it is collected like anything else. */
export function giveSlab(slab: Buffer): void {
  const sized = free.get(slab.length);
  if (!sized || kept + slab.length > KEPT_BYTES) return;
  kept += slab.length;
  sized.push(slab);
}
