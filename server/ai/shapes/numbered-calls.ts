import { newId } from '#server/kernel/ids.ts';
import { countAt, type JsonObject, objectOf, objectsOf, textAt } from '../json.ts';
import { changed, jsonOf, mentions, type StreamEvent } from '../stream/event.ts';

/** As many as a call can ask for. */
const MOST_CHOICES = 128;

/** A call, under the number that it has here. */
type Call = { readonly own: number; readonly id: string };
type Numbering = { next: number; last: Call | undefined; readonly given: Map<number, Call>; readonly used: Set<number> };

/**
 * Numbers the tool calls of an OpenAI stream whose server leaves `index` out or gives parallel calls the same one, as Gemini and some self-hosted ones do:
 * clients, and everything here, would take two calls for one. A new id, or a name without an index, begins a call; other pieces belong to the call of their
 * index, or to the one before them. A call without an id is given one, since its result has to name it.
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
      const numbering = choices.get(at) ?? { next: 0, last: undefined, given: new Map(), used: new Set() };
      choices.set(at, numbering);
      for (const call of calls) if (number(numbering, call)) changed(event);
    }
    return event;
  };
}

/** Whether the piece was changed. */
function number(numbering: Numbering, piece: JsonObject): boolean {
  const given = countAt(piece, 'index');
  const id = textAt(piece, 'id') || undefined;
  const isNamed = [piece.function, piece.custom].some((called) => (textAt(objectOf(called), 'name') ?? '') !== '');
  const known = given === undefined ? numbering.last : numbering.given.get(given);
  const begins = known === undefined || (id === undefined ? given === undefined && isNamed : id !== known.id);
  const call = begins ? begun(numbering, given, id) : known;
  numbering.last = call;
  if (given !== undefined) numbering.given.set(given, call);
  const isChanged = given !== call.own || (begins && id === undefined && isNamed);
  piece.index = call.own;
  if (begins && id === undefined && isNamed) piece.id = call.id;
  return isChanged;
}

function begun(numbering: Numbering, given: number | undefined, id: string | undefined): Call {
  const own = given === undefined || numbering.used.has(given) ? numbering.next : given;
  numbering.next = Math.max(numbering.next, own + 1);
  numbering.used.add(own);
  return { own, id: id ?? `call_${newId()}` };
}
