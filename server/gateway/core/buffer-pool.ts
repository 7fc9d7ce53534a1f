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
export function takeBuffer(bytes: number): Buffer {
  const size = SIZES.find((candidate) => candidate >= bytes);
  if (size === undefined) return Buffer.allocUnsafeSlow(bytes);
  const pooled = free.get(size)?.pop();
  if (!pooled) return Buffer.allocUnsafeSlow(size);
  kept -= size;
  return pooled;
}

/** Returns a buffer to the pool once nothing reads it any more. When in doubt, don't: it is then collected like any other object. */
export function giveBuffer(pooled: Buffer): void {
  const sized = free.get(pooled.length);
  if (!sized || kept + pooled.length > KEPT_BYTES) return;
  kept += pooled.length;
  sized.push(pooled);
}
