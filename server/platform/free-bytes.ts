/** Shorter ones are not worth the call. */
const LEAST = 4 * 1024;

/**
 * Frees memory that nobody reads any more now, instead of when it is found to be garbage: bodies that are read in would otherwise have the collector
 * run all the time. Afterwards the buffer is empty. Only for bytes that no write is on its way with. Buffers that share their memory are left alone.
 */
export function freeBytes(bytes: Buffer): void {
  const { buffer } = bytes;
  if (bytes.length < LEAST || buffer.byteLength !== bytes.length || !(buffer instanceof ArrayBuffer)) return;
  buffer.transfer(0);
}
