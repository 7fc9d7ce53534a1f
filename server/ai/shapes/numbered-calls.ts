import { countAt, objectOf, objectsOf, textAt } from '../json.ts';
import { changed, jsonOf, mentions, type StreamEvent } from '../stream/event.ts';

/** As many as a call can ask for. */
const MOST_CHOICES = 128;

type Numbering = { next: number; last: number; id: string | undefined };

/**
 * Numbers the tool calls of an OpenAI stream whose server leaves `index` out, as Gemini and some self-hosted ones do: without it clients, and everything
 * here, would take two parallel calls for one. A new id, or a name without one, begins a call; other pieces belong to the call before them.
 */
export function numberedCalls(): (event: StreamEvent) => StreamEvent {
  const choices = new Map<number, Numbering>();
  return (event) => {
    if (!mentions(event, '"tool_calls"')) return event;
    for (const choice of objectsOf(objectOf(jsonOf(event)).choices)) {
      const calls = objectsOf(objectOf(choice.delta).tool_calls);
      if (calls.length === 0) continue;
      const at = countAt(choice, 'index') ?? 0;
      if (at >= MOST_CHOICES) continue;
      const numbering = choices.get(at) ?? { next: 0, last: 0, id: undefined };
      choices.set(at, numbering);
      for (const call of calls) {
        const given = countAt(call, 'index');
        const id = textAt(call, 'id') || undefined;
        const begins = id === undefined ? (textAt(objectOf(call.function), 'name') ?? '') !== '' : id !== numbering.id;
        numbering.last = given ?? (begins ? numbering.next : numbering.last);
        numbering.next = Math.max(numbering.next, numbering.last + 1);
        numbering.id = id ?? numbering.id;
        if (given !== undefined) continue;
        call.index = numbering.last;
        changed(event);
      }
    }
    return event;
  };
}
