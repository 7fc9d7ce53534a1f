import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, table, textAt } from '../json.ts';
import { changed, jsonOf, made, mentions, type StreamEvent } from '../stream/event.ts';
import { cohereUsage } from '../usage/provider-counts.ts';
import { type Adapter, blockedTool, type Delta, type FinishReason, type StreamGrammar, type TextRef } from './adapter.ts';
import { clampMembers } from './common-body.ts';
import { openAiChat } from './openai-chat.ts';
import { textOrTexts } from './openai-simple.ts';
import { plainAdapter, textsOfEvent } from './plain.ts';
import { withRest } from './rest.ts';
import { argumentTexts, leaves, textIn } from './texts.ts';

// Cohere's v2 chat, embed and rerank. Requests of chat are much like OpenAI's.

const REASONS = table<FinishReason>({ COMPLETE: 'stop', STOP_SEQUENCE: 'stop', MAX_TOKENS: 'length', TOOL_CALL: 'tool_calls' });
const finishOf = (reason: unknown): FinishReason | undefined => (typeof reason === 'string' ? (REASONS.get(reason) ?? 'other') : undefined);
const messageOf = (answer: unknown): JsonObject => objectOf(objectOf(answer).message);

export const cohere: Adapter = plainAdapter('cohere', {
  maxTokens: (body) => countAt(body, 'max_tokens'),
  clamp: (body, ceiling) => (body.messages === undefined ? { warnings: [] } : clampMembers(body, ['max_tokens'], 'max_tokens', ceiling)),
  texts: (body) => [
    ...openAiChat.texts({ messages: body.messages }),
    ...textIn('user', body, 'query'),
    ...textOrTexts('user', body, 'texts'),
    ...documentTexts(body),
    ...objectsOf(body.inputs).flatMap(({ content }) => objectsOf(content).flatMap((part) => textIn('user', part, 'text'))),
  ],
  images: (body) => listOf(body.images).length + openAiChat.images(body),
  appendSystem: openAiChat.appendSystem,
  appendTurn: openAiChat.appendTurn,
  requestSchema(body, schema) {
    body.response_format ??= { type: 'json_object', json_schema: schema };
    return true;
  },
  tools: openAiChat.tools,

  usage: (answer) => cohereUsage(objectOf(answer).usage) ?? cohereUsage(objectOf(answer).meta),
  answerTexts: (answer) => messageTexts(messageOf(answer)),
  answerText: (answer) =>
    objectsOf(messageOf(answer).content)
      .map((part) => textAt(part, 'text') ?? '')
      .join(''),
  finish: (answer) => finishOf(objectOf(answer).finish_reason),
  toolCalls: (answer) => objectsOf(messageOf(answer).tool_calls).map(({ function: called }) => textAt(called, 'name') ?? ''),
  blockTools(answer, allowed) {
    const message = messageOf(answer);
    const name = (call: JsonObject) => textAt(call.function, 'name') ?? '';
    const blocked = objectsOf(message.tool_calls)
      .map(name)
      .filter((one) => !allowed(one));
    if (blocked.length === 0) return [];
    message.tool_calls = objectsOf(message.tool_calls).filter((call) => allowed(name(call)));
    if (listOf(message.tool_calls).length === 0) delete message.tool_calls;
    message.content = [...listOf(message.content), ...blocked.map((one) => ({ type: 'text', text: blockedTool(one) }))];
    objectOf(answer).finish_reason = 'COMPLETE';
    return blocked;
  },
  stream: streamGrammar(),
});

/** Documents are texts, or objects whose `data` is one. */
function documentTexts(body: JsonObject): TextRef[] {
  return Array.isArray(body.documents) ? leaves('tool_result', body.documents).filter(({ text }) => text !== '') : [];
}

function messageTexts(message: JsonObject): TextRef[] {
  return withRest('assistant', message, [
    ...objectsOf(message.content).flatMap((part) => [...textIn('assistant', part, 'text'), ...textIn('reasoning', part, 'thinking')]),
    ...textIn('reasoning', message, 'tool_plan'),
    ...objectsOf(message.tool_calls).flatMap(({ function: called }) => (isObject(called) ? argumentTexts(called, 'arguments') : [])),
    ...objectsOf(message.citations).flatMap((one) => textIn('assistant', one, 'text')),
  ]);
}

type Place = Delta & { readonly holder: JsonObject; readonly member: string };

/** Channels: `0.text`, `0.thinking`, `0.plan`, `0.call` by the event's index. */
function placeIn(event: StreamEvent): Place | undefined {
  const json = objectOf(jsonOf(event));
  const message = objectOf(objectOf(json.delta).message);
  const at = (name: string, kind: Delta['kind'], holder: unknown, member: string): Place | undefined => {
    const text = textAt(holder, member);
    return text === undefined ? undefined : { channel: `${Number(json.index ?? 0)}.${name}`, kind, text, holder: objectOf(holder), member };
  };
  switch (json.type) {
    case 'content-delta':
      return at('text', 'text', message.content, 'text') ?? at('thinking', 'reasoning', message.content, 'thinking');
    case 'tool-plan-delta':
      return at('plan', 'reasoning', message, 'tool_plan');
    case 'tool-call-start':
    case 'tool-call-delta':
      return at('call', 'tool_args', objectOf(message.tool_calls).function, 'arguments');
    default:
      return undefined;
  }
}

function streamGrammar(): StreamGrammar {
  return {
    wire: 'sse',
    terminal: (event) => mentions(event, 'message-end') && textAt(jsonOf(event), 'type') === 'message-end',
    failure(event) {
      if (!mentions(event, 'message-end')) return undefined;
      const delta = objectOf(objectOf(jsonOf(event)).delta);
      return delta.finish_reason === 'ERROR' ? (textAt(delta, 'error') ?? 'the provider reported an error') : undefined;
    },
    deltas(event) {
      const place = placeIn(event);
      return place ? [place] : [];
    },
    setDelta(event, channel, text) {
      const place = placeIn(event);
      if (!place || place.channel !== channel || place.text === text) return event;
      place.holder[place.member] = text;
      return changed(event);
    },
    delta(channel, text) {
      const index = Number.parseInt(channel, 10);
      const [, name] = channel.split('.');
      if (name === 'call')
        return made(
          'sse',
          { type: 'tool-call-delta', index, delta: { message: { tool_calls: { function: { arguments: text } } } } },
          'tool-call-delta',
        );
      if (name === 'plan') return made('sse', { type: 'tool-plan-delta', delta: { message: { tool_plan: text } } }, 'tool-plan-delta');
      const content = name === 'thinking' ? { thinking: text } : { text };
      return made('sse', { type: 'content-delta', index, delta: { message: { content } } }, 'content-delta');
    },
    closes(event, open) {
      const json = objectOf(jsonOf(event));
      if (json.type === 'message-end') return [...open];
      const of = `${Number(json.index ?? 0)}.`;
      if (json.type === 'content-end') return [...open].filter((channel) => channel === `${of}text` || channel === `${of}thinking`);
      if (json.type === 'tool-call-end') return [...open].filter((channel) => channel === `${of}call`);
      return json.type === 'tool-call-start' ? [...open].filter((channel) => channel.endsWith('.plan')) : [];
    },
    texts(event) {
      const place = placeIn(event);
      const known = place ? textIn('assistant', place.holder, place.member) : [];
      return textsOfEvent(event, withRest('assistant', jsonOf(event), known).slice(known.length));
    },
    usage(event, before) {
      if (!mentions(event, 'message-end')) return before;
      return cohereUsage(objectOf(objectOf(jsonOf(event)).delta).usage) ?? before;
    },
    textMembers: ['"text"', '"arguments"', '"thinking"', '"tool_plan"'],
    finish: (event) => (mentions(event, 'message-end') ? finishOf(objectOf(objectOf(jsonOf(event)).delta).finish_reason) : undefined),
  };
}
