import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, table, textAt } from '../json.ts';
import { changed, jsonOf, made, mentions, type StreamEvent } from '../stream/event.ts';
import { responsesUsage } from '../usage/provider-counts.ts';
import { withTier } from '../usage/tier.ts';
import type { Usage } from '../usage/usage.ts';
import { type Adapter, blockedTool, type Delta, type FinishReason, type StreamGrammar, type TextRef, type ToolGrammar } from './adapter.ts';
import { clampMembers, withNothing } from './common-body.ts';
import { plainAdapter, textsOfEvent } from './plain.ts';
import { textsOfItems, withRest } from './rest.ts';
import { argumentTexts, leaves, textIn } from './texts.ts';

// OpenAI's Responses.

/** A function's name; the type of a built-in tool. */
const toolName = (tool: unknown): string => {
  const type = textAt(tool, 'type') ?? '';
  return type === 'function' || type === 'custom' ? (textAt(tool, 'name') ?? '') : type;
};

const tools: ToolGrammar = {
  names: (body) => objectsOf(body.tools).map(toolName),
  keep(body, allowed) {
    const before = listOf(body.tools).length;
    if (Array.isArray(body.tools)) body.tools = body.tools.filter((tool) => allowed(toolName(tool)));
    const left = listOf(body.tools).length;
    if (left === 0) withNothing(body, 'tools', 'tool_choice', 'parallel_tool_calls');
    return before - left;
  },
  forced: ({ tool_choice }) => {
    if (!isObject(tool_choice)) return [];
    return tool_choice.type === 'allowed_tools' ? objectsOf(tool_choice.tools).map(toolName) : [toolName(tool_choice)];
  },
};

export const openAiResponses: Adapter = plainAdapter('openai-responses', {
  maxTokens: (body) => countAt(body, 'max_output_tokens'),
  clamp: (body, ceiling) => clampMembers(body, ['max_output_tokens'], 'max_output_tokens', ceiling),
  texts: (body) => [
    ...textIn('system', body, 'instructions'),
    ...(Array.isArray(body.input) ? textsOfItems('user', body.input, wholeItem) : textIn('user', body, 'input')),
    ...(isObject(objectOf(body.prompt).variables) ? leaves('user', objectOf(body.prompt).variables as JsonObject) : []),
    ...textIn('metadata', body, 'user'),
    ...(isObject(body.metadata) ? leaves('metadata', body.metadata) : []),
  ],
  images: (body) =>
    objectsOf(body.input)
      .flatMap(({ content }) => objectsOf(content))
      .filter(({ type }) => type === 'input_image' || type === 'input_file').length,
  appendSystem(body, text) {
    body.instructions = typeof body.instructions === 'string' && body.instructions !== '' ? `${body.instructions}\n${text}` : text;
    return true;
  },
  appendTurn(body, answer, correction) {
    const before = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : listOf(body.input);
    body.input = [...before, { role: 'assistant', content: answer }, { role: 'user', content: correction }];
    return true;
  },
  requestSchema(body, schema) {
    const text = objectOf(body.text);
    if (text.format === undefined) body.text = { ...text, format: { type: 'json_schema', name: 'answer', schema, strict: false } };
    return true;
  },
  tools,

  usage: usageOf,
  answerTexts: (answer) => itemsOf(answer).flatMap(wholeItem),
  answerText: (answer) =>
    itemsOf(answer)
      .filter(({ type }) => type === 'message')
      .flatMap(({ content }) => objectsOf(content))
      .map((part) => (part.type === 'output_text' ? (textAt(part, 'text') ?? '') : ''))
      .join(''),
  finish: finishOf,
  toolCalls: (answer) =>
    itemsOf(answer)
      .filter(isCall)
      .map(({ name }) => String(name)),
  blockTools(answer, allowed) {
    const body = objectOf(answer);
    const blocked = itemsOf(answer).filter((item) => isCall(item) && !allowed(String(item.name)));
    if (blocked.length > 0) body.output = itemsOf(answer).map((item) => (blocked.includes(item) ? blockedItem(item) : item));
    return blocked.map(({ name }) => String(name));
  },
  stream: streamGrammar(),
});

export const blockedItem = ({ id, name }: JsonObject): JsonObject => ({
  type: 'message',
  id: String(id ?? 'msg_blocked'),
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: blockedTool(String(name)), annotations: [] }],
});

const itemsOf = (answer: unknown): JsonObject[] => objectsOf(objectOf(answer).output);

const isCall = ({ type }: JsonObject) => type === 'function_call' || type === 'custom_tool_call';

/** All texts of an item of the input or output. */
function wholeItem(item: unknown): TextRef[] {
  const role = textAt(item, 'role');
  const type = textAt(item, 'type') ?? '';
  const whose = role === 'system' || role === 'developer' ? 'system' : role === 'user' || type.endsWith('_output') ? 'user' : 'assistant';
  return withRest(type === 'reasoning' ? 'reasoning' : whose, item, isObject(item) ? itemTexts(item) : []);
}

/** Texts of an item that are known by its type. */
function itemTexts(item: JsonObject): TextRef[] {
  switch (item.type) {
    case 'function_call':
    case 'mcp_call':
      return [...argumentTexts(item, 'arguments'), ...textIn('tool_result', item, 'output')];
    case 'custom_tool_call':
      return textIn('tool_args', item, 'input');
    case 'function_call_output':
    case 'custom_tool_call_output':
      return typeof item.output === 'string' ? textIn('tool_result', item, 'output') : partTexts('tool_result', item.output);
    case 'reasoning':
      return [...partTexts('reasoning', item.summary), ...partTexts('reasoning', item.content)];
    case 'code_interpreter_call':
      return [...textIn('tool_args', item, 'code'), ...objectsOf(item.outputs).flatMap((one) => textIn('tool_result', one, 'logs'))];
    case 'shell_call_output':
    case 'local_shell_call_output':
      return typeof item.output === 'string' ? textIn('tool_result', item, 'output') : leaves('tool_result', listOf(item.output));
    default: {
      const role = item.role === 'assistant' ? 'assistant' : item.role === 'system' || item.role === 'developer' ? 'system' : 'user';
      return [
        ...(typeof item.content === 'string' ? textIn(role, item, 'content') : partTexts(role, item.content)),
        // Outputs of further tools.
        ...(typeof item.output === 'string' ? textIn('tool_result', item, 'output') : partTexts('tool_result', item.output)),
        ...partTexts('tool_result', item.results),
      ];
    }
  }
}

const partTexts = (role: TextRef['role'], parts: unknown): TextRef[] =>
  objectsOf(parts).flatMap((part) => [
    ...textIn(role, part, 'text'),
    ...textIn(role, part, 'refusal'),
    ...textIn(role, part, 'transcript'),
  ]);

/** Web searches are items of the output; the provider counts them nowhere else. */
function usageOf(answer: unknown): Usage | undefined {
  const usage = withTier(responsesUsage(objectOf(answer).usage), answer);
  return usage && { ...usage, requests_web_search: itemsOf(answer).filter(({ type }) => type === 'web_search_call').length };
}

function finishOf(answer: unknown): FinishReason | undefined {
  const { status, incomplete_details } = objectOf(answer);
  if (status === 'completed') return itemsOf(answer).some(isCall) ? 'tool_calls' : 'stop';
  if (status !== 'incomplete') return status === 'failed' || status === 'cancelled' ? 'other' : undefined;
  const reason = textAt(incomplete_details, 'reason');
  return reason === 'max_output_tokens' ? 'length' : reason === 'content_filter' ? 'content_filter' : 'other';
}

/** Whether the provider still works on the answer, so that its usage comes with a later retrieval. */
export const isPending = (answer: unknown): boolean => ['queued', 'in_progress'].includes(String(objectOf(answer).status));

/** Event types `response.<text>.delta` and `.done`, each with the member that `done` holds the whole text in. */
const TEXTS = table<readonly [member: string, kind: Delta['kind']]>({
  output_text: ['text', 'text'],
  refusal: ['refusal', 'text'],
  audio_transcript: ['transcript', 'text'],
  function_call_arguments: ['arguments', 'tool_args'],
  mcp_call_arguments: ['arguments', 'tool_args'],
  custom_tool_call_input: ['input', 'tool_args'],
  code_interpreter_call_code: ['code', 'tool_args'],
  reasoning_text: ['text', 'reasoning'],
  reasoning_summary_text: ['text', 'reasoning'],
});

/** Sound; the deltas of all other types are texts, also of those that come to be. */
const BASE64_DELTAS: ReadonlySet<string> = new Set(['audio', 'output_audio']);

const TERMINAL_TYPES = ['response.completed', 'response.incomplete', 'response.failed'];
const TERMINAL: ReadonlySet<string> = new Set(TERMINAL_TYPES);

/** The kind of text that a `delta` or `done` event is about, and its channel: `0.1.output_text` is part 1 of output 0. */
function textOf(event: StreamEvent, ending: 'delta' | 'done'): { channel: string; member: string; kind: Delta['kind'] } | undefined {
  const json = objectOf(jsonOf(event));
  const type = textAt(json, 'type') ?? '';
  if (!type.startsWith('response.') || !type.endsWith(`.${ending}`)) return undefined;
  const of = type.slice('response.'.length, -ending.length - 1);
  const [member, kind] = TEXTS.get(of) ?? [];
  if (BASE64_DELTAS.has(of) || (member === undefined && ending === 'done')) return undefined;
  return {
    channel: `${Number(json.output_index ?? 0)}.${Number(json.content_index ?? json.summary_index ?? 0)}.${of}`,
    member: member ?? 'text',
    kind: kind ?? 'text',
  };
}

function streamGrammar(): StreamGrammar {
  return {
    wire: 'sse',
    terminal: isTerminal,
    failure(event) {
      if (!mentions(event, 'error')) return undefined;
      const json = objectOf(jsonOf(event));
      if (json.type === 'error') return textAt(json, 'message') ?? textAt(json.error, 'message') ?? 'the provider reported an error';
      return json.type === 'response.failed' ? (textAt(objectOf(json.response).error, 'message') ?? 'the response failed') : undefined;
    },
    deltas(event) {
      const at = textOf(event, 'delta');
      const text = textAt(jsonOf(event), 'delta');
      return at && text !== undefined ? [{ channel: at.channel, kind: at.kind, text }] : [];
    },
    setDelta(event, channel, text) {
      const json = objectOf(jsonOf(event));
      if (textOf(event, 'delta')?.channel !== channel || json.delta === text) return event;
      json.delta = text;
      if (json.logprobs !== undefined) json.logprobs = [];
      return changed(event);
    },
    delta(channel, text, like) {
      const { obfuscation: _, ...json } = objectOf(jsonOf(like));
      const type = `response.${channel.slice(channel.lastIndexOf('.') + 1)}.delta`;
      return made('sse', { ...json, type, delta: text, ...(json.logprobs !== undefined && { logprobs: [] }) }, type);
    },
    closes(event, open) {
      if (isTerminal(event)) return [...open];
      if (!mentions(event, '.done"')) return [];
      const at = textOf(event, 'done');
      return at ? [...open].filter((channel) => channel === at.channel) : [];
    },
    texts(event) {
      const json = objectOf(jsonOf(event));
      const at = textOf(event, 'done');
      const refs = at
        ? at.member === 'arguments'
          ? argumentTexts(json, at.member)
          : textIn(at.kind === 'tool_args' ? 'tool_args' : at.kind === 'reasoning' ? 'reasoning' : 'assistant', json, at.member)
        : [
            ...(isObject(json.part) ? withRest('assistant', json.part, partTexts('assistant', [json.part])) : []),
            ...(isObject(json.item) ? wholeItem(json.item) : []),
            ...itemsOf(json.response).flatMap(wholeItem),
          ];
      if (json.response !== undefined) return textsOfEvent(event, refs);
      const piece = textIn('assistant', json, 'delta');
      return textsOfEvent(event, withRest('assistant', json, [...piece, ...refs]).slice(piece.length));
    },
    usage: (event, before) => (isTerminal(event) ? (usageOf(objectOf(jsonOf(event)).response) ?? before) : before),
    textMembers: ['"delta"'],
    finish: (event) => (isTerminal(event) ? finishOf(objectOf(jsonOf(event)).response) : undefined),
  };
}

/** Asked of each frame, so the cheap question goes first. */
function isTerminal(event: StreamEvent): boolean {
  return TERMINAL_TYPES.some((type) => mentions(event, type)) && TERMINAL.has(textAt(jsonOf(event), 'type') ?? '');
}
