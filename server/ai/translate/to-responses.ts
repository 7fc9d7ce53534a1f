import { isObject, type JsonObject, parsedJson, textAt } from '../json.ts';
import type { FinishReason } from '../shapes/adapter.ts';
import { commentEvent, MalformedFrame, made, type StreamEvent } from '../stream/event.ts';
import { inputTokens, outputTokens, type Usage } from '../usage/usage.ts';
import { idSuffix, type Notes, type Piece, type ToolName, type Turn } from './turn.ts';

/** Characters of an answer, which the last event of its stream repeats. */
const MOST_TEXT = 8 * 1024 * 1024;
const INCOMPLETE: Partial<Record<FinishReason, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' };

/** The answer as a response. */
export function responseOfTurn(turn: Turn, notes: Notes, created: number): JsonObject {
  const suffix = idSuffix(turn.id);
  const output = turn.blocks.flatMap((block, index): JsonObject[] => {
    if (block.kind === 'text') return [messageItem(`msg_${suffix}_${index}`, block.text)];
    if (block.kind === 'reasoning') return notes.reasoning ? [reasoningItem(`rs_${suffix}_${index}`, block.text)] : [];
    if (block.name === notes.jsonTool) return [messageItem(`msg_${suffix}_${index}`, block.json)];
    return [callItem(`fc_${suffix}_${index}`, block, block.json, notes)];
  });
  return responseWith({ suffix, model: turn.model, created }, output, turn.finish, turn.usage);
}

type Head = { readonly suffix: string; readonly model: string; readonly created: number };

function responseWith({ suffix, model, created }: Head, output: JsonObject[], finish: FinishReason | undefined, usage?: Usage): JsonObject {
  const reason = finish && INCOMPLETE[finish];
  return {
    id: `resp_${suffix}`,
    object: 'response',
    created_at: created,
    status: finish === undefined ? 'in_progress' : reason ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: reason ? { reason } : null,
    instructions: null,
    metadata: {},
    model,
    output,
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: usage ? responsesUsageOf(usage) : null,
  };
}

const responsesUsageOf = (usage: Usage): JsonObject => ({
  input_tokens: inputTokens(usage),
  input_tokens_details: { cached_tokens: usage.input_cached },
  output_tokens: outputTokens(usage),
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: inputTokens(usage) + outputTokens(usage),
});

const textPart = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [] });
const messageItem = (id: string, text: string): JsonObject => ({
  type: 'message',
  id,
  status: 'completed',
  role: 'assistant',
  content: [textPart(text)],
});
const reasoningItem = (id: string, text: string): JsonObject => ({
  type: 'reasoning',
  id,
  summary: text === '' ? [] : [{ type: 'summary_text', text }],
});

/** A call under the name that the request gave its tool. */
function callItem(id: string, call: { id: string; name: string }, json: string, notes: Notes): JsonObject {
  const { name, namespace, custom } = notes.tools?.get(call.name) ?? ownName(call.name);
  const named = { id, call_id: call.id, name, ...(namespace !== undefined && { namespace }), status: 'completed' };
  if (!custom) return { type: 'function_call', ...named, arguments: json };
  const input = parsedJson(json);
  return { type: 'custom_tool_call', ...named, input: (isObject(input) ? textAt(input, 'input') : undefined) ?? json };
}

const ownName = (name: string): ToolName => ({ name });

type Open = {
  readonly kind: 'text' | 'reasoning' | 'tool';
  readonly id: string;
  readonly index: number;
  readonly call?: Call;
  readonly custom: boolean;
  text: string;
};
type Call = { readonly key: string; readonly id: string; readonly name: string };

/** Writes pieces as events of one stream: an item per output, closed when the kind of output changes. */
export function responsesWriter(notes: Notes, created: number): (piece: Piece) => readonly StreamEvent[] {
  const head = { suffix: 'unknown', model: '', created };
  const output: JsonObject[] = [];
  let sequence = 0;
  let length = 0;
  let open: Open | undefined;
  let finish: FinishReason = 'other';
  let usage: Usage | undefined;
  let jsonKey: string | undefined;

  const event = (type: string, more: JsonObject): StreamEvent => made('sse', { type, sequence_number: sequence++, ...more }, type);
  const itemOf = ({ kind, id, call, text }: Open): JsonObject =>
    call ? callItem(id, call, text || '{}', notes) : kind === 'reasoning' ? reasoningItem(id, text) : messageItem(id, text);
  const added = (now: Open): StreamEvent => {
    const item = itemOf({ ...now, text: '' });
    const empty = item.arguments !== undefined ? { arguments: '' } : item.input !== undefined ? { input: '' } : {};
    const begun = now.kind === 'text' ? { content: [] } : empty;
    return event('response.output_item.added', { output_index: now.index, item: { ...item, ...begun, status: 'in_progress' } });
  };
  const close = (): StreamEvent[] => {
    if (!open) return [];
    const { id, index, kind, text } = open;
    const item = itemOf(open);
    const at = { item_id: id, output_index: index };
    const done: StreamEvent[] = [];
    if (kind === 'text') {
      done.push(event('response.output_text.done', { ...at, content_index: 0, text, logprobs: [] }));
      done.push(event('response.content_part.done', { ...at, content_index: 0, part: textPart(text) }));
    } else if (item.type === 'function_call')
      done.push(event('response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments }));
    else if (item.type === 'custom_tool_call') done.push(event('response.custom_tool_call_input.done', { ...at, input: item.input }));
    else if (text !== '') {
      done.push(event('response.reasoning_summary_text.done', { ...at, summary_index: 0, text }));
      done.push(event('response.reasoning_summary_part.done', { ...at, summary_index: 0, part: { type: 'summary_text', text } }));
    }
    output.push(item);
    open = undefined;
    return [...done, event('response.output_item.done', { output_index: index, item })];
  };
  const into = (kind: Open['kind'], call?: Call): StreamEvent[] => {
    if (open?.kind === kind && open.call?.key === call?.key) return [];
    const closed = close();
    const index = output.length;
    const id = `${kind === 'text' ? 'msg' : kind === 'tool' ? 'fc' : 'rs'}_${head.suffix}_${index}`;
    open = { kind, id, index, text: '', custom: call !== undefined && notes.tools?.get(call.name)?.custom === true, ...(call && { call }) };
    const at = { item_id: id, output_index: index };
    const events = [...closed, added(open)];
    if (kind === 'text') events.push(event('response.content_part.added', { ...at, content_index: 0, part: textPart('') }));
    if (kind === 'reasoning')
      events.push(event('response.reasoning_summary_part.added', { ...at, summary_index: 0, part: { type: 'summary_text', text: '' } }));
    return events;
  };
  const write = (delta: string): StreamEvent[] => {
    if (!open || delta === '') return [];
    open.text += delta;
    length += delta.length;
    if (length > MOST_TEXT) throw new MalformedFrame('the answer is too long to be repeated at its end');
    const at = { item_id: open.id, output_index: open.index };
    if (open.kind === 'text') return [event('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] })];
    if (open.kind === 'reasoning') return [event('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta })];
    // The text of a custom tool is known once its member is whole.
    return open.custom ? [] : [event('response.function_call_arguments.delta', { ...at, delta })];
  };
  const response = (ended?: FinishReason) => responseWith(head, ended === undefined ? [] : output, ended, ended && usage);

  return (piece) => {
    switch (piece.kind) {
      case 'start':
        head.suffix = idSuffix(piece.id);
        head.model = piece.model;
        return [event('response.created', { response: response() }), event('response.in_progress', { response: response() })];
      case 'text':
      case 'reasoning':
        if (piece.kind === 'reasoning' && !notes.reasoning) return [];
        return [...into(piece.kind), ...write(piece.text)];
      case 'tool':
        if (piece.name !== notes.jsonTool) return into('tool', piece);
        jsonKey = piece.key;
        return [];
      case 'arguments':
        if (piece.key === jsonKey) return [...into('text'), ...write(piece.text)];
        return open?.call?.key === piece.key ? write(piece.text) : mixed();
      case 'finish':
        finish = piece.finish;
        return close();
      case 'usage':
        usage = piece.usage;
        return [];
      case 'end': {
        const closed = close();
        const type = INCOMPLETE[finish] ? 'response.incomplete' : 'response.completed';
        return [...closed, event(type, { response: response(finish) })];
      }
      case 'ping':
        return [commentEvent('ping')];
      default:
        return [];
    }
  };
}

/** Items follow each other here, so a provider that goes back to an earlier call can't be written down. */
function mixed(): never {
  throw new MalformedFrame('the provider mixed the arguments of two tool calls');
}
