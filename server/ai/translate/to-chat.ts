import type { JsonObject } from '../json.ts';
import type { FinishReason } from '../shapes/adapter.ts';
import { commentEvent, doneEvent, made, type StreamEvent } from '../stream/event.ts';
import { inputTokens, outputTokens, type Usage } from '../usage/usage.ts';
import { idSuffix, type Notes, type Piece, type Turn } from './turn.ts';

const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  other: 'stop',
};

/** The answer as a chat completion. */
export function chatOfTurn(turn: Turn, notes: Notes, created: number): JsonObject {
  const tools = turn.blocks.flatMap((block) => (block.kind === 'tool' && block.name !== notes.jsonTool ? [block] : []));
  const texts = turn.blocks.flatMap((block) =>
    block.kind === 'text' ? [block.text] : block.kind === 'tool' && block.name === notes.jsonTool ? [block.json] : [],
  );
  const reasoning = turn.blocks.flatMap((block) => (block.kind === 'reasoning' ? [block.text] : [])).join('');
  const message = {
    role: 'assistant',
    content: texts.length === 0 && tools.length > 0 ? null : texts.join(''),
    refusal: null,
    ...(notes.reasoning && reasoning !== '' && { reasoning_content: reasoning }),
    ...(tools.length > 0 && {
      tool_calls: tools.map(({ id, name, json }) => ({ id, type: 'function', function: { name, arguments: json } })),
    }),
  };
  return {
    id: `chatcmpl-${idSuffix(turn.id)}`,
    object: 'chat.completion',
    created,
    model: turn.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(turn.finish, tools.length > 0) }],
    ...(turn.usage && { usage: chatUsage(turn.usage) }),
  };
}

/** An answer that only called the tool of its schema has stopped. */
const finishReason = (finish: FinishReason, calls: boolean) => REASONS[finish === 'tool_calls' && !calls ? 'stop' : finish];

/** Usage in OpenAI's members; what was written to a cache is part of the prompt. */
export function chatUsage(usage: Usage): JsonObject {
  const prompt = inputTokens(usage);
  const completion = outputTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.input_cached },
    ...(usage.reasoning > 0 && { completion_tokens_details: { reasoning_tokens: usage.reasoning } }),
  };
}

/** Writes pieces as chunks of one stream. */
export function chatWriter(notes: Notes, created: number): (piece: Piece) => readonly StreamEvent[] {
  const head: JsonObject = { id: '', object: 'chat.completion.chunk', created, model: '' };
  const calls = new Map<string, number>();
  /** The call whose arguments haven't begun. */
  let bare: number | undefined;
  let jsonKey: string | undefined;
  let usage: Usage | undefined;
  const chunk = (delta: JsonObject, reason: string | null = null) =>
    made('sse', { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
  const argue = (index: number, text: string) => chunk({ tool_calls: [{ index, function: { arguments: text } }] });
  /** Clients parse the arguments of a call, also of one that has none. */
  const closed = (): StreamEvent[] => {
    const index = bare;
    bare = undefined;
    return index === undefined ? [] : [argue(index, '{}')];
  };
  return (piece) => {
    switch (piece.kind) {
      case 'start':
        head.id = `chatcmpl-${idSuffix(piece.id)}`;
        head.model = piece.model;
        return [chunk({ role: 'assistant', content: '' })];
      case 'text':
        return [chunk({ content: piece.text })];
      case 'reasoning':
        return notes.reasoning ? [chunk({ reasoning_content: piece.text })] : [];
      case 'tool': {
        if (piece.name === notes.jsonTool) {
          jsonKey = piece.key;
          return [];
        }
        const before = closed();
        const index = calls.size;
        calls.set(piece.key, index);
        bare = index;
        return [
          ...before,
          chunk({ tool_calls: [{ index, id: piece.id, type: 'function', function: { name: piece.name, arguments: '' } }] }),
        ];
      }
      case 'arguments': {
        if (piece.key === jsonKey) return [chunk({ content: piece.text })];
        const index = calls.get(piece.key);
        if (index === undefined || piece.text === '') return [];
        if (index === bare) bare = undefined;
        return [argue(index, piece.text)];
      }
      case 'finish':
        return [...closed(), chunk({}, finishReason(piece.finish, calls.size > 0))];
      case 'usage':
        usage = piece.usage;
        return [];
      case 'end':
        return [...(notes.includeUsage && usage ? [made('sse', { ...head, choices: [], usage: chatUsage(usage) })] : []), doneEvent()];
      case 'ping':
        return [commentEvent('ping')];
      default:
        return [];
    }
  };
}
