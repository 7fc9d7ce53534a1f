import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, textAt } from '../json.ts';
import { changed, jsonOf, made, mentions, type StreamEvent } from '../stream/event.ts';
import { ollamaUsage } from '../usage/provider-counts.ts';
import { type Adapter, blockedTool, type Delta, type FinishReason, type StreamGrammar, type TextRef, type TextRole } from './adapter.ts';
import { clampMembers } from './common-body.ts';
import { openAiChat } from './openai-chat.ts';
import { textOrTexts } from './openai-simple.ts';
import { failureIn, plainAdapter, textsOfEvent } from './plain.ts';
import { withRest } from './rest.ts';
import { leaves, textIn } from './texts.ts';

// Ollama's own chat, generate and embed: NDJSON when streamed, which is the default.

const isEmbedding = (body: JsonObject) => body.input !== undefined && body.messages === undefined && body.prompt === undefined;

export const ollama: Adapter = plainAdapter('ollama', {
  wantsStream: (body) => !isEmbedding(body) && body.stream !== false,
  maxTokens(body) {
    const asked = countAt(body.options, 'num_predict');
    return asked === 0 ? undefined : asked;
  },
  clamp(body, ceiling) {
    if (isEmbedding(body)) return { warnings: [] };
    if (!isObject(body.options)) body.options = {};
    return clampMembers(body.options as JsonObject, ['num_predict'], 'num_predict', ceiling);
  },
  texts: (body) => [
    ...objectsOf(body.messages).flatMap((message) =>
      withRest(roleOf(message), message, [...textIn(roleOf(message), message, 'content'), ...callTexts(message)]),
    ),
    ...textIn('system', body, 'system'),
    ...textIn('user', body, 'prompt'),
    ...textIn('user', body, 'suffix'),
    ...textIn('system', body, 'template'),
    ...textOrTexts('user', body, 'input'),
  ],
  images: (body) => listOf(body.images).length + objectsOf(body.messages).reduce((sum, { images }) => sum + listOf(images).length, 0),
  appendSystem(body, text) {
    if (body.messages !== undefined) return openAiChat.appendSystem(body, text);
    body.system = typeof body.system === 'string' && body.system !== '' ? `${body.system}\n${text}` : text;
    return true;
  },
  appendTurn: (body, answer, correction) => body.messages !== undefined && openAiChat.appendTurn(body, answer, correction),
  requestSchema(body, schema) {
    body.format ??= schema;
    return true;
  },
  tools: openAiChat.tools,

  usage: (answer) => (isObject(answer) ? ollamaUsage(answer) : undefined),
  answerTexts: (answer) => answerTexts(objectOf(answer)),
  answerText: (answer) => textAt(objectOf(answer).message, 'content') ?? textAt(answer, 'response') ?? '',
  finish: (answer) => finishIn(answer),
  toolCalls: (answer) => objectsOf(objectOf(objectOf(answer).message).tool_calls).map(nameOfCall),
  blockTools(answer, allowed) {
    const message = objectOf(objectOf(answer).message);
    const blocked = objectsOf(message.tool_calls)
      .map(nameOfCall)
      .filter((name) => !allowed(name));
    if (blocked.length === 0) return [];
    message.tool_calls = objectsOf(message.tool_calls).filter((call) => allowed(nameOfCall(call)));
    if (listOf(message.tool_calls).length === 0) delete message.tool_calls;
    message.content = [textAt(message, 'content') ?? '', ...blocked.map(blockedTool)].filter((text) => text !== '').join('\n');
    return blocked;
  },
  stream: streamGrammar(),
});

function roleOf({ role }: JsonObject): TextRole {
  return role === 'system' || role === 'assistant' ? role : role === 'tool' ? 'tool_result' : 'user';
}

const nameOfCall = (call: JsonObject): string => textAt(call.function, 'name') ?? '';

function callTexts(message: JsonObject): TextRef[] {
  return objectsOf(message.tool_calls).flatMap(({ function: called }) =>
    isObject(objectOf(called).arguments) ? leaves('tool_args', objectOf(called).arguments as JsonObject) : [],
  );
}

function answerTexts(answer: JsonObject): TextRef[] {
  const message = objectOf(answer.message);
  return [
    ...withRest('assistant', message, [
      ...textIn('assistant', message, 'content'),
      ...textIn('reasoning', message, 'thinking'),
      ...callTexts(message),
    ]),
    ...textIn('assistant', answer, 'response'),
    ...textIn('reasoning', answer, 'thinking'),
  ];
}

function finishIn(answer: unknown): FinishReason | undefined {
  const { done, done_reason, message } = objectOf(answer);
  if (done !== true) return undefined;
  if (objectsOf(objectOf(message).tool_calls).length > 0) return 'tool_calls';
  return done_reason === 'length' ? 'length' : 'stop';
}

const CHANNELS = [
  ['message', 'content', 'text'],
  ['message', 'thinking', 'reasoning'],
  ['', 'response', 'text'],
  ['', 'thinking', 'reasoning'],
] as const;

type Place = Delta & { readonly holder: JsonObject; readonly member: string };

/** Channels: `message.content`, `message.thinking`, `.response`, `.thinking`. Calls of tools come whole. */
function placesIn(event: StreamEvent): Place[] {
  const json = objectOf(jsonOf(event));
  return CHANNELS.flatMap(([parent, member, kind]) => {
    const holder = parent === '' ? json : objectOf(json[parent]);
    const text = textAt(holder, member);
    return text === undefined ? [] : [{ channel: `${parent}.${member}`, kind, text, holder, member }];
  });
}

function streamGrammar(): StreamGrammar {
  return {
    wire: 'ndjson',
    terminal: (event) => mentions(event, '"done"') && objectOf(jsonOf(event)).done === true,
    failure: failureIn,
    deltas: placesIn,
    setDelta(event, channel, text) {
      for (const place of placesIn(event)) {
        if (place.channel !== channel || place.text === text) continue;
        place.holder[place.member] = text;
        changed(event);
      }
      return event;
    },
    delta(channel, text, like) {
      const { model, created_at } = objectOf(jsonOf(like));
      const [parent = '', member = ''] = channel.split('.');
      const piece = parent === '' ? { [member]: text } : { [parent]: { role: 'assistant', [member]: text } };
      return made('ndjson', { model, created_at, ...piece, done: false });
    },
    closes(event, open, begun) {
      const { done, message } = objectOf(jsonOf(event));
      if (done === true || listOf(objectOf(message).tool_calls).length > 0) return [...open];
      const isText = begun.some((channel) => channel === 'message.content' || channel === '.response');
      return isText ? [...open].filter((channel) => channel.endsWith('.thinking')) : [];
    },
    texts(event) {
      const known = placesIn(event).flatMap(({ holder, member }) => textIn('assistant', holder, member));
      return textsOfEvent(event, withRest('assistant', objectOf(jsonOf(event)).message, known).slice(known.length));
    },
    usage: (event, before) => (mentions(event, '_count"') ? (ollamaUsage(objectOf(jsonOf(event))) ?? before) : before),
    textMembers: ['"content"', '"response"', '"thinking"'],
    finish: (event) => (mentions(event, '"done"') ? finishIn(jsonOf(event)) : undefined),
  };
}
