import { objectOf, objectsOf } from '../json.ts';
import { dataOf, jsonOf, mentions, type StreamEvent } from '../stream/event.ts';

/** How many choices of a chunk end in it. */
export function finishedChoices(event: StreamEvent): number {
  if (!mayHold(event, '"finish_reason"')) return 0;
  return objectsOf(objectOf(jsonOf(event)).choices).filter(({ finish_reason }) => typeof finish_reason === 'string').length;
}

/** Whether a chunk may hold a value of this member, asked before parsing it: most chunks name it once, with null. */
export function mayHold(event: StreamEvent, member: string): boolean {
  if (!mentions(event, member)) return false;
  if (!event.raw) return true;
  const data = dataOf(event);
  const at = data.indexOf(member);
  return !data.startsWith(':null', at + member.length) || data.includes(member, at + member.length);
}
