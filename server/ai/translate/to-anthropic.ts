import { isObject, type JsonObject, parsedJson } from '../json.ts';
import type { FinishReason } from '../shapes/adapter.ts';
import { MalformedFrame, made, type StreamEvent } from '../stream/event.ts';
import { outputTokens, type Usage } from '../usage/usage.ts';
import { type Block, idSuffix, type Notes, type Piece, type Turn } from './turn.ts';

const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  other: 'end_turn',
};

const stopReason = (finish: FinishReason, calls: boolean, sequence: string | undefined) =>
  finish === 'stop' && sequence !== undefined ? 'stop_sequence' : REASONS[finish === 'tool_calls' && !calls ? 'stop' : finish];

/** The answer as a message. */
export function anthropicOfTurn(turn: Turn, notes: Notes): JsonObject {
  const calls = turn.blocks.some((block) => block.kind === 'tool' && block.name !== notes.jsonTool);
  return {
    id: `msg_${idSuffix(turn.id)}`,
    type: 'message',
    role: 'assistant',
    model: turn.model,
    content: turn.blocks.map((block) => blockOf(block, notes)),
    stop_reason: stopReason(turn.finish, calls, turn.stopSequence),
    stop_sequence: turn.stopSequence ?? null,
    usage: anthropicUsageOf(turn.usage),
  };
}

function blockOf(block: Block, { jsonTool }: Notes): JsonObject {
  if (block.kind === 'text') return { type: 'text', text: block.text };
  if (block.kind === 'reasoning') return { type: 'thinking', thinking: block.text, signature: block.signature ?? '' };
  if (block.name === jsonTool) return { type: 'text', text: block.json };
  const input = parsedJson(block.json);
  // Arguments that aren't JSON would be lost in an object: they are handed on as the text they are.
  return { type: 'tool_use', id: block.id, name: block.name, input: isObject(input) ? input : { _unparsed: block.json } };
}

function anthropicUsageOf(usage: Usage | undefined): JsonObject {
  return {
    input_tokens: usage?.input_uncached ?? 0,
    cache_creation_input_tokens: usage ? usage.cache_write_5m + usage.cache_write_1h : 0,
    cache_read_input_tokens: usage?.input_cached ?? 0,
    output_tokens: usage ? outputTokens(usage) : 0,
  };
}

type Open = { readonly kind: string; readonly index: number };

/** Writes pieces as events of one stream: a content block per output, closed when the kind of output changes. */
export function anthropicWriter(notes: Notes): (piece: Piece) => readonly StreamEvent[] {
  let open: Open | undefined;
  let blocks = 0;
  let calls = false;
  let finish: { reason: FinishReason; sequence: string | undefined } | undefined;
  let usage: Usage | undefined;
  let jsonKey: string | undefined;

  const event = (type: string, more: JsonObject = {}) => made('sse', { type, ...more }, type);
  const close = (): StreamEvent[] => {
    if (!open) return [];
    const { index } = open;
    open = undefined;
    return [event('content_block_stop', { index })];
  };
  const into = (kind: string, block: JsonObject): StreamEvent[] => {
    if (open?.kind === kind) return [];
    const closed = close();
    open = { kind, index: blocks++ };
    return [...closed, event('content_block_start', { index: open.index, content_block: block })];
  };
  const delta = (more: JsonObject) => event('content_block_delta', { index: open?.index ?? 0, delta: more });
  const text = (piece: string) => [...into('text', { type: 'text', text: '' }), delta({ type: 'text_delta', text: piece })];

  return (piece) => {
    switch (piece.kind) {
      case 'start': {
        const message = { id: `msg_${idSuffix(piece.id)}`, type: 'message', role: 'assistant', model: piece.model, content: [] };
        return [
          event('message_start', { message: { ...message, stop_reason: null, stop_sequence: null, usage: anthropicUsageOf(piece.usage) } }),
        ];
      }
      case 'text':
        return text(piece.text);
      case 'reasoning':
        return [
          ...into('thinking', { type: 'thinking', thinking: '', signature: '' }),
          delta({ type: 'thinking_delta', thinking: piece.text }),
        ];
      case 'signature':
        return open?.kind === 'thinking' ? [delta({ type: 'signature_delta', signature: piece.text })] : [];
      case 'tool':
        if (piece.name === notes.jsonTool) {
          jsonKey = piece.key;
          return [];
        }
        calls = true;
        return into(`tool ${piece.key}`, { type: 'tool_use', id: piece.id, name: piece.name, input: {} });
      case 'arguments':
        if (piece.key === jsonKey) return text(piece.text);
        // Blocks follow each other here, so a provider that goes back to an earlier call can't be written down.
        if (open?.kind !== `tool ${piece.key}`) throw new MalformedFrame('the provider mixed the arguments of two tool calls');
        return [delta({ type: 'input_json_delta', partial_json: piece.text })];
      case 'finish':
        finish = { reason: piece.finish, sequence: piece.stopSequence };
        return close();
      case 'usage':
        usage = piece.usage;
        return [];
      case 'end': {
        const reason = stopReason(finish?.reason ?? 'other', calls, finish?.sequence);
        const end = { delta: { stop_reason: reason, stop_sequence: finish?.sequence ?? null }, usage: anthropicUsageOf(usage) };
        return [...close(), event('message_delta', end), event('message_stop')];
      }
      default:
        return [event('ping')];
    }
  };
}
