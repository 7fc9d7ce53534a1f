/**
 * Fields as u32 big-endian byte length and bytes, one after the other; null is the length FF FF FF FF without bytes.
 * Two different lists of fields never give the same bytes. Text is UTF-8.
 */
export function lengthPrefixed(fields: readonly (string | Uint8Array | null)[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const field of fields) {
    const bytes = typeof field === 'string' ? Buffer.from(field, 'utf8') : field;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes ? bytes.byteLength : 0xffffffff);
    parts.push(length);
    if (bytes) parts.push(bytes);
  }
  return Buffer.concat(parts);
}
