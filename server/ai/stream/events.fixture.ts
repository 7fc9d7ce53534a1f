import type { StreamEvent, Wire } from './event.ts';
import { streamReader } from './reader.ts';

/** The whole events of a stream that comes in these chunks. */
export function eventsIn(wire: Exclude<Wire, 'json-list'>, ...chunks: readonly Buffer[]): StreamEvent[] {
  const reader = streamReader(wire);
  return chunks.flatMap((chunk) => [...reader.push(chunk)].flat());
}
