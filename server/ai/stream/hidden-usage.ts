import { isObject, listOf, objectOf } from '../json.ts';
import { changed, jsonOf, type Stage, type StreamEvent } from './event.ts';

const NULL_USAGE = ',"usage":null';

/**
 * Takes usage out of an OpenAI stream whose caller had not asked for it: the extra chunk, and the member of the others (spec/51 §9.2). A null in the bytes
 * is cut out of them, since a quote in a text would be escaped.
 */
export function hiddenUsage(): Stage {
  return { push: (event) => hide(event), end: () => [] };
}

function hide(event: StreamEvent): readonly StreamEvent[] {
  const { raw } = event;
  if (raw) {
    const at = raw.indexOf('"usage"');
    if (at === -1) return [event];
    if (raw.indexOf(NULL_USAGE) === at - 1 && raw.indexOf('"usage"', at + 1) === -1) {
      event.raw = Buffer.concat([raw.subarray(0, at - 1), raw.subarray(at - 1 + NULL_USAGE.length)]);
      if (event.json !== undefined) delete objectOf(event.json).usage;
      else event.data = undefined;
      return [event];
    }
  }
  const chunk = objectOf(jsonOf(event));
  if (isObject(chunk.usage) && Array.isArray(chunk.choices) && listOf(chunk.choices).length === 0) return [];
  const groq = objectOf(chunk.x_groq);
  if (!('usage' in chunk) && !('usage' in groq)) return [event];
  delete chunk.usage;
  delete groq.usage;
  return [changed(event)];
}
