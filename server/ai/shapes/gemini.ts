import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, table, textAt } from '../json.ts';
import { changed, jsonOf, made, mentions } from '../stream/event.ts';
import { geminiUsage } from '../usage/provider-counts.ts';
import { withTier } from '../usage/tier.ts';
import {
  type Adapter,
  blockedTool,
  type FinishReason,
  type StreamGrammar,
  type TextRef,
  type TextRole,
  type ToolGrammar,
} from './adapter.ts';
import { clampMembers, timesAt, withNothing } from './common-body.ts';
import { failureIn, plainAdapter, textsOfEvent } from './plain.ts';
import { withRest } from './rest.ts';
import { leaves, textIn } from './texts.ts';

// Google's generateContent, countTokens and embedContent.

/** Members whose values are a caller's own data or schemas: their names are left as they are. */
const OPAQUE = new Set(['args', 'response', 'parameters', 'parametersJsonSchema', 'responseSchema', 'responseJsonSchema', 'labels']);

/** Google reads one object where a list of them is meant, so that a check of lists alone could be passed by `parts: {text}`. */
const LISTS = new Set(['contents', 'parts', 'tools', 'functionDeclarations', 'requests']);

/** Google reads `system_instruction` like `systemInstruction`, so that a check of one spelling alone could be passed by the other. */
function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    if (camel !== name && value[camel] !== undefined) continue;
    const read = OPAQUE.has(camel) ? member : camelCased(member);
    result[camel] = LISTS.has(camel) && isObject(read) ? [read] : read;
  }
  return result;
}

const declarations = (tool: JsonObject): JsonObject[] => objectsOf(tool.functionDeclarations);
/** Built-in tools are members: `googleSearch`, on lists also `google_search`. */
const builtIns = (tool: JsonObject): string[] => Object.keys(tool).filter((name) => name !== 'functionDeclarations');
const snakeCased = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const tools: ToolGrammar = {
  names: (body) => objectsOf(body.tools).flatMap((tool) => [...declarations(tool).map(({ name }) => String(name)), ...builtIns(tool)]),
  keep(body, allowed) {
    const before = tools.names(body).length;
    for (const tool of objectsOf(body.tools)) {
      if (tool.functionDeclarations !== undefined)
        tool.functionDeclarations = declarations(tool).filter(({ name }) => allowed(String(name)));
      if (declarations(tool).length === 0) delete tool.functionDeclarations;
      for (const name of builtIns(tool)) if (!allowed(name) && !allowed(snakeCased(name))) delete tool[name];
    }
    body.tools = objectsOf(body.tools).filter((tool) => Object.keys(tool).length > 0);
    if (listOf(body.tools).length === 0) withNothing(body, 'tools', 'toolConfig');
    return before - tools.names(body).length;
  },
  forced(body) {
    const calling = objectOf(objectOf(body.toolConfig).functionCallingConfig);
    return listOf(calling.allowedFunctionNames).filter((name) => typeof name === 'string');
  },
};

const candidatesOf = (answer: unknown): JsonObject[] => objectsOf(objectOf(answer).candidates);
const partsOf = (content: unknown): JsonObject[] => objectsOf(objectOf(content).parts);

/** The requests of a batch, or the body itself; a count may hold the request to count. */
function requestsOf(body: JsonObject): JsonObject[] {
  if (isObject(body.generateContentRequest)) return [body, body.generateContentRequest];
  return Array.isArray(body.requests) ? [body, ...objectsOf(body.requests)] : [body];
}

export const gemini: Adapter = plainAdapter('gemini', {
  prepare(body) {
    const renamed = objectOf(camelCased(body));
    for (const name of Object.keys(body)) if (!(name in renamed)) delete body[name];
    Object.assign(body, renamed);
  },
  model: () => undefined,
  setModel(body, model) {
    for (const request of requestsOf(body)) if (request.model !== undefined) request.model = `models/${model.replace(/^models\//, '')}`;
  },
  wantsStream: () => undefined,
  setStream: () => {},
  maxTokens(body) {
    const generation = objectOf(body.generationConfig);
    const one = countAt(generation, 'maxOutputTokens');
    return one === undefined ? undefined : one * timesAt(generation, 'candidateCount');
  },
  clamp(body, ceiling) {
    if (!isObject(body.generationConfig)) body.generationConfig = {};
    const generation = body.generationConfig as JsonObject;
    const each = Math.max(1, Math.floor(ceiling / timesAt(generation, 'candidateCount')));
    return clampMembers(generation, ['maxOutputTokens'], 'maxOutputTokens', each);
  },
  texts: (body) =>
    requestsOf(body).flatMap((request) => [
      ...contentTexts('system', request.systemInstruction),
      ...objectsOf(request.contents).flatMap((content) => contentTexts(content.role === 'model' ? 'assistant' : 'user', content)),
      ...contentTexts('user', request.content),
      ...textIn('user', request, 'title'),
      ...(isObject(request.labels) ? leaves('metadata', request.labels) : []),
    ]),
  images: (body) =>
    objectsOf(body.contents)
      .flatMap(partsOf)
      .filter((part) => part.inlineData !== undefined || part.fileData !== undefined).length,
  appendSystem(body, text) {
    const held = objectOf(body.systemInstruction);
    body.systemInstruction = { ...held, parts: [...listOf(held.parts), { text }] };
    return true;
  },
  appendTurn(body, answer, correction) {
    body.contents = [
      ...listOf(body.contents),
      { role: 'model', parts: [{ text: answer }] },
      { role: 'user', parts: [{ text: correction }] },
    ];
    return true;
  },
  requestSchema(body, schema) {
    const generation = objectOf(body.generationConfig);
    if (generation.responseSchema !== undefined || generation.responseJsonSchema !== undefined || generation.responseMimeType !== undefined)
      return true;
    body.generationConfig = { ...generation, responseMimeType: 'application/json', responseJsonSchema: schema };
    return true;
  },
  tools,

  usage: (answer) => withTier(geminiUsage(objectOf(answer).usageMetadata), answer),
  answerTexts: (answer) => candidatesOf(answer).flatMap((one) => withRest('assistant', one, partTexts('assistant', one.content))),
  answerText: (answer) =>
    partsOf(candidatesOf(answer)[0]?.content)
      .map((part) => (part.thought === true ? '' : (textAt(part, 'text') ?? '')))
      .join(''),
  finish: (answer) => finishIn(answer),
  toolCalls: (answer) => candidatesOf(answer).flatMap(({ content }) => calledNames(content)),
  blockTools(answer, allowed) {
    return candidatesOf(answer).flatMap((candidate) => {
      const blocked = calledNames(candidate.content).filter((name) => !allowed(name));
      if (blocked.length === 0) return [];
      const content = objectOf(candidate.content);
      content.parts = partsOf(content).map((part) => {
        const name = isObject(part.functionCall) ? String(part.functionCall.name) : undefined;
        return name === undefined || allowed(name) ? part : { text: blockedTool(name) };
      });
      return blocked;
    });
  },
  stream: streamGrammar(),
});

const calledNames = (content: unknown): string[] =>
  partsOf(content).flatMap(({ functionCall }) => (isObject(functionCall) ? [String(functionCall.name)] : []));

const contentTexts = (role: TextRole, content: unknown): TextRef[] => withRest(role, content, partTexts(role, content));

function partTexts(role: TextRole, content: unknown): TextRef[] {
  return partsOf(content).flatMap((part) => [
    ...textIn(part.thought === true ? 'reasoning' : role, part, 'text'),
    ...(isObject(part.functionCall) && isObject(part.functionCall.args) ? leaves('tool_args', part.functionCall.args) : []),
    ...(isObject(part.functionResponse) && isObject(part.functionResponse.response)
      ? leaves('tool_result', part.functionResponse.response)
      : []),
    ...(isObject(part.executableCode) ? textIn('tool_args', part.executableCode, 'code') : []),
    ...(isObject(part.codeExecutionResult) ? textIn('tool_result', part.codeExecutionResult, 'output') : []),
  ]);
}

const FILTERED: FinishReason = 'content_filter';
const REASONS = table<FinishReason>({
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: FILTERED,
  RECITATION: FILTERED,
  LANGUAGE: FILTERED,
  BLOCKLIST: FILTERED,
  PROHIBITED_CONTENT: FILTERED,
  SPII: FILTERED,
  IMAGE_SAFETY: FILTERED,
});

function finishIn(answer: unknown): FinishReason | undefined {
  const [first] = candidatesOf(answer);
  if (!first) return isObject(objectOf(answer).promptFeedback) ? FILTERED : undefined;
  if (typeof first.finishReason !== 'string') return undefined;
  const reason = REASONS.get(first.finishReason) ?? 'other';
  return reason === 'stop' && calledNames(first.content).length > 0 ? 'tool_calls' : reason;
}

/** Channels: `0.text` and `0.thought` of candidate 0. Calls of functions come whole. */
function streamGrammar(): StreamGrammar {
  const channelOf = (candidate: JsonObject, part: JsonObject) =>
    `${countAt(candidate, 'index') ?? 0}.${part.thought === true ? 'thought' : 'text'}`;
  const pieces = (json: unknown) =>
    candidatesOf(json).flatMap((candidate) =>
      partsOf(candidate.content).flatMap((part) => (typeof part.text === 'string' ? [{ channel: channelOf(candidate, part), part }] : [])),
    );
  return {
    wire: 'sse',
    terminal: (event) => (mentions(event, '"finishReason"') || mentions(event, '"blockReason"')) && finishIn(jsonOf(event)) !== undefined,
    failure: failureIn,
    deltas(event) {
      const joined = new Map<string, string>();
      for (const { channel, part } of pieces(jsonOf(event))) joined.set(channel, (joined.get(channel) ?? '') + String(part.text));
      return [...joined].map(([channel, text]) => ({
        channel,
        kind: channel.endsWith('.thought') ? ('reasoning' as const) : ('text' as const),
        text,
      }));
    },
    setDelta(event, channel, text) {
      const parts = pieces(jsonOf(event)).filter((piece) => piece.channel === channel);
      if (parts.length === 0 || parts.map(({ part }) => part.text).join('') === text) return event;
      parts.forEach(({ part }, index) => {
        part.text = index === 0 ? text : '';
      });
      return changed(event);
    },
    delta(channel, text, like) {
      const { usageMetadata: _, candidates: __, ...chunk } = objectOf(jsonOf(like));
      const part = channel.endsWith('.thought') ? { text, thought: true } : { text };
      return made('sse', { ...chunk, candidates: [{ index: Number.parseInt(channel, 10), content: { role: 'model', parts: [part] } }] });
    },
    closes(event, open) {
      const finished = candidatesOf(jsonOf(event)).filter(({ finishReason }) => typeof finishReason === 'string');
      return [...open].filter((channel) => finished.some((candidate) => channel.startsWith(`${countAt(candidate, 'index') ?? 0}.`)));
    },
    texts: (event) =>
      textsOfEvent(
        event,
        candidatesOf(jsonOf(event)).flatMap((one) => {
          const pieces = new Set<unknown>(partsOf(one.content).filter(({ text }) => typeof text === 'string'));
          return withRest('assistant', one, partTexts('assistant', one.content)).filter(
            ({ at }) => !(at && at.member === 'text' && pieces.has(at.holder)),
          );
        }),
      ),
    usage: (event, before) =>
      mentions(event, '"usageMetadata"') ? (withTier(geminiUsage(objectOf(jsonOf(event)).usageMetadata), jsonOf(event)) ?? before) : before,
    textMembers: ['"text"'],
    finish: (event) => (mentions(event, '"finishReason"') ? finishIn(jsonOf(event)) : undefined),
  };
}
