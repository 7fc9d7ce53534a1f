import { countAt, isObject, type JsonObject, objectOf, objectsOf, parsedJson, textAt } from '../json.ts';
import { changed, dataOf, jsonOf, made, nameOf, type StreamEvent } from '../stream/event.ts';
import { anthropicUsage, converseUsage, invocationUsage, openAiUsage } from '../usage/provider-counts.ts';
import type { Adapter, StreamGrammar } from './adapter.ts';
import { anthropic } from './anthropic.ts';
import { bedrockConverse } from './bedrock-converse.ts';
import { clampMembers } from './common-body.ts';
import { plainAdapter } from './plain.ts';
import { leaves } from './texts.ts';

// Amazon Bedrock's InvokeModel: the body and answer are the model's own. Claude's and Nova's are known by what they hold; of others every string counts
// as a text of the user.

function ownAdapter(body: JsonObject): Adapter | undefined {
  if (typeof body.anthropic_version === 'string') return anthropic;
  return isObject(body.inferenceConfig) ||
    objectsOf(body.messages).some(({ content }) => objectsOf(content).some((part) => part.type === undefined))
    ? bedrockConverse
    : undefined;
}

/** The member that holds the maximum of output tokens, by the family of the model. */
function maximumIn(body: JsonObject, model: string): { holder: JsonObject; member: string } {
  if (/(?:^|\.)meta\./.test(model)) return { holder: body, member: 'max_gen_len' };
  if (!/(?:^|\.)amazon\.titan/.test(model)) return { holder: body, member: 'max_tokens' };
  if (!isObject(body.textGenerationConfig)) body.textGenerationConfig = {};
  return { holder: body.textGenerationConfig as JsonObject, member: 'maxTokenCount' };
}

const MAXIMA = ['max_tokens', 'max_gen_len', 'max_tokens_to_sample', 'max_new_tokens', 'maxTokens', 'max_completion_tokens'];

const answerAdapter = (answer: unknown): Adapter | undefined => {
  const { type, output } = objectOf(answer);
  return type === 'message' ? anthropic : isObject(output) ? bedrockConverse : undefined;
};

export const bedrockInvoke: Adapter = plainAdapter('bedrock-invoke', {
  model: () => undefined,
  setModel: () => {},
  wantsStream: () => undefined,
  setStream: () => {},
  maxTokens: (body) => ownAdapter(body)?.maxTokens(body) ?? MAXIMA.map((member) => countAt(body, member)).find((one) => one !== undefined),
  clamp(body, ceiling, target) {
    const own = ownAdapter(body);
    if (own) return own.clamp(body, ceiling, target);
    const present = MAXIMA.filter((member) => body[member] !== undefined);
    if (present.length > 0) return clampMembers(body, present, present[0] as string, ceiling);
    const { holder, member } = maximumIn(body, target.model);
    return clampMembers(holder, [member], member, ceiling);
  },
  texts: (body) => ownAdapter(body)?.texts(body) ?? leaves('user', body),
  images: (body) => ownAdapter(body)?.images(body) ?? 0,
  appendSystem: (body, text) => ownAdapter(body)?.appendSystem(body, text) ?? false,
  appendTurn: (body, answer, correction) => ownAdapter(body)?.appendTurn(body, answer, correction) ?? false,
  tools: {
    names: (body) => (ownAdapter(body) ?? anthropic).tools.names(body),
    keep: (body, allowed) => (ownAdapter(body) ?? anthropic).tools.keep(body, allowed),
    forced: (body) => (ownAdapter(body) ?? anthropic).tools.forced(body),
  },
  usage: (answer) => answerAdapter(answer)?.usage(answer) ?? openAiUsage(objectOf(answer).usage),
  answerTexts: (answer) => answerAdapter(answer)?.answerTexts(answer) ?? (isObject(answer) ? leaves('assistant', answer) : []),
  answerText: (answer) => answerAdapter(answer)?.answerText(answer) ?? textAt(answer, 'generation') ?? '',
  finish: (answer) => answerAdapter(answer)?.finish(answer),
  toolCalls: (answer) => answerAdapter(answer)?.toolCalls(answer) ?? [],
  blockTools: (answer, allowed) => answerAdapter(answer)?.blockTools(answer, allowed) ?? [],
  stream: streamGrammar(),
});

/** Usage of an answer by the headers `x-amzn-bedrock-*-token-count`, for models whose bodies hold none. */
export const usageOfHeaders = (headers: Readonly<Record<string, string | readonly string[] | undefined>>) =>
  invocationUsage({
    inputTokenCount: numberIn(headers['x-amzn-bedrock-input-token-count']),
    outputTokenCount: numberIn(headers['x-amzn-bedrock-output-token-count']),
  });

const numberIn = (header: unknown) => (header === undefined ? undefined : Number(header));

/** The event that a chunk `{"bytes": base64}` carries: one of Anthropic's stream, or of another model's. */
function carried(event: StreamEvent): StreamEvent | undefined {
  if (nameOf(event) !== 'chunk' || dataOf(event) === '') return undefined;
  const bytes = textAt(jsonOf(event), 'bytes');
  const json = bytes === undefined ? undefined : parsedJson(Buffer.from(bytes, 'base64').toString('utf8'));
  return isObject(json) ? made('sse', json, textAt(json, 'type') ?? '') : undefined;
}

/** Puts the event back into its chunk. */
function carrying(event: StreamEvent, inner: StreamEvent): StreamEvent {
  objectOf(jsonOf(event)).bytes = Buffer.from(JSON.stringify(inner.json)).toString('base64');
  return changed(event);
}

const GENERATED = ['generation', 'outputText', 'text', 'completion'];

function streamGrammar(): StreamGrammar {
  const of = anthropic.stream;
  const plainText = (inner: StreamEvent) => GENERATED.find((member) => typeof objectOf(inner.json)[member] === 'string');
  return {
    wire: 'event-stream',
    terminal(event) {
      const inner = carried(event);
      return inner !== undefined && (isObject(objectOf(inner.json)['amazon-bedrock-invocationMetrics']) || of.terminal(inner));
    },
    failure: (event) => (nameOf(event).startsWith('!') ? (textAt(jsonOf(event), 'message') ?? nameOf(event).slice(1)) : undefined),
    deltas(event) {
      const inner = carried(event);
      if (!inner) return [];
      const member = plainText(inner);
      if (member !== undefined && textAt(inner.json, 'type') === undefined)
        return [{ channel: member, kind: 'text' as const, text: String(objectOf(inner.json)[member]) }];
      return of.deltas(inner);
    },
    setDelta(event, channel, text) {
      const inner = carried(event);
      if (!inner) return event;
      if (GENERATED.includes(channel)) objectOf(inner.json)[channel] = text;
      else of.setDelta(inner, channel, text);
      return carrying(event, inner);
    },
    delta(channel, text) {
      const inner = GENERATED.includes(channel) ? { [channel]: text } : of.delta(channel, text, made('sse', {})).json;
      return made('event-stream', { bytes: Buffer.from(JSON.stringify(inner)).toString('base64') }, 'chunk');
    },
    closes(event, open, begun) {
      const inner = carried(event);
      if (!inner) return [];
      return isObject(objectOf(inner.json)['amazon-bedrock-invocationMetrics']) ? [...open] : of.closes(inner, open, begun);
    },
    texts: () => [],
    usage(event, before) {
      const inner = carried(event);
      if (!inner) return before;
      const json = objectOf(inner.json);
      const own = of.usage(inner, before) ?? anthropicUsage(json.usage) ?? converseUsage(objectOf(json.metadata).usage);
      return own ?? invocationUsage(json['amazon-bedrock-invocationMetrics']) ?? before;
    },
    textMembers: [],
    finish(event) {
      const inner = carried(event);
      return inner && of.finish(inner);
    },
  };
}
