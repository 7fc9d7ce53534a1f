/** A new row id: UUID version 7 (RFC 9562 §5.7), so that rows made together lie together in the index. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const ms = Date.now();
  bytes[0] = ms / 2 ** 40;
  bytes[1] = ms / 2 ** 32;
  bytes[2] = ms / 2 ** 24;
  bytes[3] = ms / 2 ** 16;
  bytes[4] = ms / 2 ** 8;
  bytes[5] = ms;
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
