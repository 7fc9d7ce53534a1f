import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, table, textAt } from '../json.ts';
import { changed, DONE, dataOf, jsonOf, made, mentions, type StreamEvent } from '../stream/event.ts';
import { openAiUsage } from '../usage/provider-counts.ts';
import { withTier } from '../usage/tier.ts';
import type { Usage } from '../usage/usage.ts';
import {
  type Adapter,
  blockedTool,
  type Delta,
  type FinishReason,
  type StreamGrammar,
  type TextRef,
  type TextRole,
  type ToolGrammar,
} from './adapter.ts';
import { type ContentPlace, contentPlaces, contentText } from './chat-content.ts';
import { clampMembers, timesAt, withNothing } from './common-body.ts';
import { numberedCalls } from './numbered-calls.ts';
import { finishedChoices, mayHold } from './openai-chunk.ts';
import { textsOfEvent } from './plain.ts';
import { withRest } from './rest.ts';
import { argumentTexts, leaves, textIn } from './texts.ts';

// OpenAI chat completions, and whoever speaks like them.

const ROLES = table<TextRole>({
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  tool: 'tool_result',
  function: 'tool_result',
});

const tools: ToolGrammar = {
  names: (body) => [
    ...objectsOf(body.tools).map(toolName),
    ...objectsOf(body.functions).map((one) => textAt(one, 'name') ?? ''),
    ...(isObject(body.web_search_options) ? ['web_search'] : []),
  ],
  keep(body, allowed) {
    const before = tools.names(body).length;
    if (Array.isArray(body.tools)) body.tools = body.tools.filter((one) => allowed(toolName(one)));
    if (Array.isArray(body.functions)) body.functions = body.functions.filter((one) => allowed(textAt(one, 'name') ?? ''));
    if (body.web_search_options !== undefined && !allowed('web_search')) delete body.web_search_options;
    if (listOf(body.tools).length === 0) withNothing(body, 'tools', 'tool_choice', 'parallel_tool_calls');
    if (listOf(body.functions).length === 0) withNothing(body, 'functions', 'function_call');
    return before - tools.names(body).length;
  },
  forced(body) {
    const choice = objectOf(body.tool_choice);
    const oneOf = objectsOf(objectOf(choice.allowed_tools).tools).map(toolName);
    const named = isObject(body.tool_choice) && choice.type !== 'allowed_tools' ? [toolName(choice)] : oneOf;
    const legacy = textAt(body.function_call, 'name');
    return legacy === undefined ? named : [...named, legacy];
  },
};

/** A function's or custom tool's name; the type of a built-in one. */
function toolName(tool: unknown): string {
  return textAt(objectOf(tool).function, 'name') ?? textAt(objectOf(tool).custom, 'name') ?? textAt(tool, 'type') ?? '';
}

/** Models that take `max_completion_tokens` and refuse `max_tokens`. */
const REASONING = /^(?:o[1-9]|gpt-[5-9])/;

export const openAiChat: Adapter = {
  shape: 'openai-chat',
  prepare: () => {},
  model: (body) => textAt(body, 'model'),
  setModel(body, model) {
    body.model = model;
  },
  // `models` is OpenRouter's, `fallbacks` LiteLLM's.
  otherModels: (body) =>
    [...listOf(body.models), ...listOf(body.fallbacks)]
      .map((one) => (isObject(one) ? one.model : one))
      .filter((one) => typeof one === 'string'),
  wantsStream: (body) => body.stream === true,
  setStream(body, stream) {
    body.stream = stream;
    if (!stream) delete body.stream_options;
  },
  maxTokens(body) {
    const one = countAt(body, 'max_completion_tokens') ?? countAt(body, 'max_tokens');
    return one === undefined ? undefined : one * choices(body);
  },
  clamp(body, ceiling, { model, provider }) {
    const reasoning = provider === 'azure-openai' || (provider === 'openai' && REASONING.test(model));
    const members = ['max_completion_tokens', 'max_tokens'] as const;
    return clampMembers(
      body,
      members,
      reasoning ? 'max_completion_tokens' : 'max_tokens',
      Math.max(1, Math.floor(ceiling / choices(body))),
    );
  },
  texts: (body) => [
    ...objectsOf(body.messages).flatMap(messageTexts),
    ...(isObject(body.prediction) ? contentTexts('user', body.prediction, 'content') : []),
    ...(Array.isArray(body.documents) ? leaves('tool_result', body.documents).filter(({ text }) => text !== '') : []),
    ...textIn('metadata', body, 'user'),
    ...(isObject(body.metadata) ? Object.keys(body.metadata).flatMap((key) => textIn('metadata', body.metadata as JsonObject, key)) : []),
  ],
  images: (body) =>
    objectsOf(body.messages)
      .flatMap(({ content }) => objectsOf(content))
      .filter(({ type }) => type === 'image_url' || type === 'file' || type === 'input_audio').length,
  appendSystem(body, text) {
    const messages = listOf(body.messages);
    const last = messages.findLastIndex((one) => ROLES.get(textAt(one, 'role') ?? '') === 'system');
    const held = messages[last];
    if (!isObject(held)) body.messages = [{ role: 'system', content: text }, ...messages];
    else if (Array.isArray(held.content)) held.content.push({ type: 'text', text });
    else held.content = typeof held.content === 'string' && held.content !== '' ? `${held.content}\n${text}` : text;
    return true;
  },
  appendTurn(body, answer, correction) {
    body.messages = [...listOf(body.messages), { role: 'assistant', content: answer }, { role: 'user', content: correction }];
    return true;
  },
  requestSchema(body, schema) {
    body.response_format ??= { type: 'json_schema', json_schema: { name: 'answer', schema, strict: false } };
    return true;
  },
  tools,

  usage: usageOf,
  answerTexts: (answer) =>
    withRest(
      'assistant',
      answer,
      choicesOf(answer).flatMap(({ message }) => (isObject(message) ? outputTexts(message) : [])),
    ),
  answerText(answer) {
    return contentText(objectOf(choicesOf(answer)[0]?.message), 'content', 'text');
  },
  finish: (answer) => finishOf(choicesOf(answer)[0]?.finish_reason),
  toolCalls: (answer) => choicesOf(answer).flatMap(({ message }) => calledNames(objectOf(message))),
  blockTools(answer, allowed) {
    return choicesOf(answer).flatMap((choice) => {
      const message = objectOf(choice.message);
      const blocked = calledNames(message).filter((name) => !allowed(name));
      if (blocked.length === 0) return [];
      message.tool_calls = objectsOf(message.tool_calls).filter((call) => allowed(toolName(call)));
      if (listOf(message.tool_calls).length === 0) delete message.tool_calls;
      if (!allowed(textAt(message.function_call, 'name') ?? '')) delete message.function_call;
      const said = contentText(message, 'content', 'text');
      message.content = [...(said === '' ? [] : [said]), ...blocked.map(blockedTool)].join('\n');
      choice.finish_reason = 'stop';
      return blocked;
    });
  },
  stream: streamGrammar(),
};

/** Of an answer or a chunk; Groq has a place of its own for it. */
function usageOf(answer: unknown): Usage | undefined {
  const { usage, x_groq } = objectOf(answer);
  return withTier(openAiUsage(usage) ?? openAiUsage(objectOf(x_groq).usage), answer);
}

/**
 * Has the provider report usage in the stream (spec/51 §9.2). False when the caller had not asked for it, so that the report must be taken out again.
 */
export function askForUsage(body: JsonObject): boolean {
  const options = objectOf(body.stream_options);
  if (options.include_usage === true) return true;
  body.stream_options = { ...options, include_usage: true };
  return false;
}

const choices = (body: JsonObject): number => timesAt(body, 'n');

const choicesOf = (answer: unknown): JsonObject[] => objectsOf(objectOf(answer).choices);

function messageTexts(message: JsonObject): TextRef[] {
  const role = ROLES.get(textAt(message, 'role') ?? '') ?? 'user';
  return withRest(role, message, [
    ...contentTexts(role, message, 'content'),
    ...(role === 'assistant' ? [...textIn('reasoning', message, 'reasoning_content'), ...textIn('assistant', message, 'refusal')] : []),
    ...objectsOf(message.tool_calls).flatMap(callTexts),
    ...(isObject(message.function_call) ? argumentTexts(message.function_call, 'arguments') : []),
  ]);
}

/** A content: a string, or parts that hold texts. */
export const contentTexts = (role: TextRole, holder: JsonObject, member: string): TextRef[] =>
  contentPlaces(holder, member).flatMap((place) => textIn(place.kind === 'reasoning' ? 'reasoning' : role, place.holder, place.member));

function outputTexts(message: JsonObject): TextRef[] {
  return [
    ...contentTexts('assistant', message, 'content'),
    ...textIn('assistant', message, 'refusal'),
    ...textIn('reasoning', message, 'reasoning_content'),
    ...textIn('reasoning', message, 'reasoning'),
    ...objectsOf(message.tool_calls).flatMap(callTexts),
    ...(isObject(message.function_call) ? argumentTexts(message.function_call, 'arguments') : []),
    ...(isObject(message.audio) ? textIn('assistant', message.audio, 'transcript') : []),
  ];
}

function callTexts({ function: called, custom }: JsonObject): TextRef[] {
  return [
    ...(isObject(called) ? argumentTexts(called, 'arguments') : []),
    ...(isObject(custom) ? textIn('tool_args', custom, 'input') : []),
  ];
}

function calledNames(message: JsonObject): string[] {
  const legacy = textAt(message.function_call, 'name');
  return [...objectsOf(message.tool_calls).map(toolName), ...(legacy === undefined ? [] : [legacy])];
}

const REASONS = table<FinishReason>({
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
});

const finishOf = (reason: unknown): FinishReason | undefined => (typeof reason === 'string' ? (REASONS.get(reason) ?? 'other') : undefined);

/** Texts of a delta besides its content, each with the rest of its channel's name and the member that holds it. */
const TEXT_MEMBERS = [
  ['refusal', 'text'],
  ['reasoning_content', 'reasoning'],
  ['reasoning', 'reasoning'],
] as const;

/** Members of most chunks and deltas, which hold no text or are channels. */
const PLAIN_CHUNK: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
]);
const PLAIN_DELTA: ReadonlySet<string> = new Set(['role', 'refusal', 'reasoning_content', 'reasoning']);

/** Most chunks have no text besides their channels, and are not walked. */
const isPlain = (chunk: JsonObject): boolean =>
  Object.keys(chunk).every((name) => PLAIN_CHUNK.has(name)) &&
  objectsOf(chunk.choices).every(({ delta }) =>
    Object.entries(objectOf(delta)).every(([name, value]) => PLAIN_DELTA.has(name) || (name === 'content' && typeof value === 'string')),
  );

/** `more` are further places of the same channel in one event, which were read as one text. */
type Place = Delta & { readonly holder: JsonObject; readonly member: string; readonly choice: JsonObject; readonly more: ContentPlace[] };

/** Channels: `0.content` of choice 0, `0.tool.1` the arguments of its second tool call, `0.custom.1` the input of a custom one. Runs for every frame, hence the plain loops. */
function placesIn(event: StreamEvent): Place[] {
  const places: Place[] = [];
  for (const choice of objectsOf(objectOf(jsonOf(event)).choices)) {
    const delta = objectOf(choice.delta);
    const index = countAt(choice, 'index') ?? 0;
    const note = (channel: string, kind: Delta['kind'], holder: JsonObject, member: string) => {
      const text = holder[member];
      if (typeof text === 'string') places.push({ channel: `${index}.${channel}`, kind, text, holder, member, choice, more: [] });
    };
    if (typeof delta.content === 'string') note('content', 'text', delta, 'content');
    else
      for (const { channel, kind, places: parts } of contentChannels(delta)) {
        const [{ holder, member }, ...more] = parts as [ContentPlace, ...ContentPlace[]];
        const text = parts.map((part) => String(part.holder[part.member])).join('');
        places.push({ channel: `${index}.${channel}`, kind, text, holder, member, choice, more });
      }
    for (const [member, kind] of TEXT_MEMBERS) note(member, kind, delta, member);
    if (delta.audio !== undefined) note('audio', 'text', objectOf(delta.audio), 'transcript');
    if (delta.reasoning_details !== undefined)
      for (const [i, detail] of objectsOf(delta.reasoning_details).entries())
        for (const member of ['text', 'summary']) note(`details.${countAt(detail, 'index') ?? i}.${member}`, 'reasoning', detail, member);
    if (delta.tool_calls !== undefined)
      for (const call of objectsOf(delta.tool_calls)) {
        const at = countAt(call, 'index') ?? 0;
        note(`tool.${at}`, 'tool_args', objectOf(call.function), 'arguments');
        note(`custom.${at}`, 'text', objectOf(call.custom), 'input');
      }
    if (delta.function_call !== undefined) note('call', 'tool_args', objectOf(delta.function_call), 'arguments');
  }
  return places;
}

/** A content in parts: its text is the channel of a content in one string, since providers mix the two. */
const contentChannels = (delta: JsonObject): { channel: string; kind: Delta['kind']; places: ContentPlace[] }[] => {
  const places = contentPlaces(delta, 'content');
  return [
    { channel: 'thinking', kind: 'reasoning' as const, places: places.filter(({ kind }) => kind === 'reasoning') },
    { channel: 'content', kind: 'text' as const, places: places.filter(({ kind }) => kind === 'text') },
  ].filter((one) => one.places.length > 0);
};

const beginsCall = (call: JsonObject): boolean =>
  [call.function, call.custom].some((called) => (textAt(objectOf(called), 'name') ?? '') !== '');
const isOfCall = (channel: string): boolean => /^\d+\.(?:tool\.|custom\.|call$)/.test(channel);
const isReasoning = (channel: string): boolean => /^\d+\.(?:reasoning|reasoning_content|thinking$|details\.)/.test(channel);

function deltaOf(channel: string, text: string): JsonObject {
  if (channel === 'audio') return { audio: { transcript: text } };
  if (channel.startsWith('details.')) {
    const [, index, member = 'text'] = channel.split('.');
    return { reasoning_details: [{ type: `reasoning.${member}`, index: Number(index), [member]: text }] };
  }
  if (channel === 'thinking') return { content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] };
  if (channel === 'call') return { function_call: { arguments: text } };
  if (channel.startsWith('custom.')) return { tool_calls: [{ index: Number(channel.slice('custom.'.length)), custom: { input: text } }] };
  if (!channel.startsWith('tool.')) return { [channel]: text };
  return { tool_calls: [{ index: Number(channel.slice('tool.'.length)), function: { arguments: text } }] };
}

function streamGrammar(): StreamGrammar {
  return {
    wire: 'sse',
    completed: numberedCalls,
    terminal: (event) => mentions(event, DONE) && dataOf(event).trim() === DONE,
    finished: finishedChoices,
    failure(event) {
      if (!mentions(event, '"error"')) return undefined;
      const { error } = objectOf(jsonOf(event));
      return error === undefined || error === null ? undefined : (textAt(error, 'message') ?? 'the provider reported an error');
    },
    deltas: placesIn,
    setDelta(event, channel, text) {
      for (const place of placesIn(event)) {
        if (place.channel !== channel || place.text === text) continue;
        place.holder[place.member] = text;
        for (const { holder, member } of place.more) holder[member] = '';
        // Log probabilities spell the text out once more.
        delete place.choice.logprobs;
        changed(event);
      }
      return event;
    },
    delta(channel, text, like) {
      const dot = channel.indexOf('.');
      const { usage: _, choices: __, ...chunk } = objectOf(jsonOf(like));
      return made('sse', {
        ...chunk,
        choices: [{ index: Number(channel.slice(0, dot)), delta: deltaOf(channel.slice(dot + 1), text), finish_reason: null }],
      });
    },
    closes(event, open, begun) {
      if (dataOf(event).trim() === DONE) return [...open];
      const ending = objectsOf(objectOf(jsonOf(event)).choices).map((choice) => {
        const of = `${countAt(choice, 'index') ?? 0}.`;
        if (typeof choice.finish_reason === 'string') return (channel: string) => channel.startsWith(of);
        // A call comes behind all text before it, and text behind the reasoning for it: otherwise clients show the end of a sentence after the next part.
        if (objectsOf(objectOf(choice.delta).tool_calls).some(beginsCall))
          return (channel: string) => channel.startsWith(of) && !isOfCall(channel);
        if (begun.includes(`${of}content`)) return (channel: string) => channel.startsWith(of) && isReasoning(channel);
        return () => false;
      });
      return ending.length === 0 ? [] : [...open].filter((channel) => ending.some((ends) => ends(channel)));
    },
    texts(event) {
      const chunk = jsonOf(event);
      if (isPlain(objectOf(chunk))) return [];
      const known = placesIn(event).flatMap(({ holder, member, more }) =>
        [{ holder, member }, ...more].flatMap((place) => textIn('assistant', place.holder, place.member)),
      );
      return textsOfEvent(event, withRest('assistant', chunk, known).slice(known.length));
    },
    usage(event, before) {
      if (!mayHold(event, '"usage"')) return before;
      return usageOf(jsonOf(event)) ?? before;
    },
    textMembers: ['"content"', '"arguments"', '"reasoning_content"'],
    finish(event) {
      if (!mayHold(event, '"finish_reason"')) return undefined;
      return finishOf(objectsOf(objectOf(jsonOf(event)).choices)[0]?.finish_reason);
    },
  };
}
