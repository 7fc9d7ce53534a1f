import { processState } from './process-state.ts';

/** The millisecond of the newest id, and how many were made in it before. */
const newest = processState('newest-id', () => ({ ms: 0, inThisMs: 0 }));

/**
 * A new row id: UUID version 7 (RFC 9562 §5.7), so that rows made together lie together in the index. The 12 bits after the time count within the
 * millisecond (§6.2, method 1): ids of one process sort in the order they were made.
 */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const now = Date.now();
  const later = now > newest.ms;
  newest.inThisMs = later ? 0 : newest.inThisMs + 1;
  // 4,096 in one millisecond, or a clock that went back: time goes on where it was.
  newest.ms = later ? now : newest.inThisMs > 0xfff ? newest.ms + 1 : newest.ms;
  newest.inThisMs &= 0xfff;
  const { ms, inThisMs } = newest;
  bytes[0] = ms / 2 ** 40;
  bytes[1] = ms / 2 ** 32;
  bytes[2] = ms / 2 ** 24;
  bytes[3] = ms / 2 ** 16;
  bytes[4] = ms / 2 ** 8;
  bytes[5] = ms;
  bytes[6] = 0x70 | (inThisMs >> 8);
  bytes[7] = inThisMs;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** When an id of ours was made, to the millisecond; undefined for an id of another version. */
export const madeAt = (id: string): Date | undefined =>
  id[14] === '7' ? new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)) : undefined;
