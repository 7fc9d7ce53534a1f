import { jsonStream } from './json-stream.ts';
import { BUILT_IN_REACH, type CompiledPolicy } from './policy.ts';
import { type PiiCounts, type Rewriting, rewritten } from './rewrite.ts';
import { type TextStream, textStream } from './text-stream.ts';
import type { Tokenizer } from './tokenizer.ts';

export type RequestMode = 'off' | 'tokenize';
export type ResponseMode = 'redact' | 'detokenize';
export type StreamingMode = 'holdback' | 'buffer' | 'monitor';

/** What an agent or MCP server says about PII, and what its calls are judged by. */
export type PiiSettings = {
  policy: CompiledPolicy;
  tokenizer: Tokenizer;
  requestMode: RequestMode;
  responseMode: ResponseMode;
  streamingMode?: StreamingMode;
  /** Characters that a stream may hold back; a policy that needs more is buffered. */
  holdbackChars?: number;
};

/** PII of one call: its texts on the way up, and its answer on the way down. All functions throw BudgetExceeded or HeldTooLong: refuse the call then. */
export type PiiSession = {
  /** A text of the request, with values replaced. */
  request: (text: string) => string;
  /** A JSON value of the request, such as tool arguments of an earlier turn: strings are replaced, keys are kept. */
  requestValue: <Value>(value: Value) => Value;
  /** JSON text of the request, such as `function.arguments`. */
  requestJson: (text: string) => string;
  /** A text of the answer. */
  answer: (text: string) => string;
  answerValue: <Value>(value: Value) => Value;
  answerJson: (text: string) => string;
  /** The stream of one channel: text, or JSON text of a tool call's arguments. */
  stream: (channel: 'text' | 'json') => TextStream;
  /** Whether streams are collected whole before they leave. */
  buffersStreams: boolean;
  /** Matches by entity, of request and answer. */
  requestCounts: PiiCounts;
  answerCounts: PiiCounts;
};

export function piiSession(settings: PiiSettings): PiiSession {
  const { policy, tokenizer, requestMode, responseMode, streamingMode = 'holdback', holdbackChars = BUILT_IN_REACH } = settings;
  const requestCounts: PiiCounts = new Map();
  const answerCounts: PiiCounts = new Map();
  const up: Rewriting = { policy, tokenizer, direction: 'request', restores: false, counts: requestCounts };
  const down: Rewriting = { policy, tokenizer, direction: 'answer', restores: responseMode === 'detokenize', counts: answerCounts };
  const request = (text: string) => (requestMode === 'off' ? text : rewritten(text, up));
  const answer = (text: string) => rewritten(text, down);
  const whole = (rewriting: Rewriting, text: string) => {
    const stream = jsonStream(rewriting);
    return stream.push(text) + stream.flush();
  };
  // A limit below what the built-in detectors need would only ever mean buffering.
  const buffersStreams =
    streamingMode === 'buffer' || (streamingMode === 'holdback' && policy.reach > Math.max(holdbackChars, BUILT_IN_REACH));
  const streamOf = (channel: 'text' | 'json', rewriting: Rewriting, buffers: boolean) =>
    channel === 'json' ? jsonStream(rewriting, { buffers }) : textStream(rewriting, { buffers });

  return {
    request,
    requestValue: (value) => (requestMode === 'off' ? value : mapStrings(value, request)),
    requestJson: (text) => (requestMode === 'off' ? text : whole(up, text)),
    answer,
    answerValue: (value) => mapStrings(value, answer),
    answerJson: (text) => whole(down, text),
    stream(channel) {
      if (streamingMode !== 'monitor') return streamOf(channel, down, buffersStreams);
      // Values leave as the model wrote them; only tokens are restored, and what would have been replaced is counted.
      return observed(
        streamOf(channel, { ...down, policy: undefined }, false),
        streamOf(channel, down, policy.reach === Number.POSITIVE_INFINITY),
      );
    },
    buffersStreams,
    requestCounts,
    answerCounts,
  };
}

/** A stream beside which another one only counts. */
function observed(stream: TextStream, observer: TextStream): TextStream {
  return {
    push(text) {
      observer.push(text);
      return stream.push(text);
    },
    flush() {
      observer.flush();
      return stream.flush();
    },
  };
}

/** The value with each of its strings mapped; names of members stay. */
export function mapStrings<Value>(value: Value, map: (text: string) => string): Value {
  const walk = (part: unknown, depth: number): unknown => {
    if (typeof part === 'string') return map(part);
    if (typeof part !== 'object' || part === null || depth > 200) return part;
    if (Array.isArray(part)) return part.map((item) => walk(item, depth + 1));
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, walk(item, depth + 1)]));
  };
  return walk(value, 0) as Value;
}
