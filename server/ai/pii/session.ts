import { type Budget, budgetFor } from '../patterns/budget.ts';
import { jsonStream } from './json-stream.ts';
import { BUILT_IN_REACH, type CompiledPolicy } from './policy.ts';
import { type PiiCounts, type Rewriting, rewritten } from './rewrite.ts';
import { rewrittenRunning } from './running.ts';
import { type JsonState, type StreamState, type TextState, type TextStream, textStream } from './text-stream.ts';
import type { Tokenizer } from './tokenizer.ts';

export type RequestMode = 'off' | 'tokenize';
export type ResponseMode = 'redact' | 'detokenize';
export type StreamingMode = 'holdback' | 'buffer' | 'monitor';

/** What an agent or MCP server says about PII. */
export type PiiModes = {
  requestMode: RequestMode;
  responseMode: ResponseMode;
  streamingMode?: StreamingMode;
  /** Characters that a stream may hold back; a policy that needs more is buffered. */
  holdbackChars?: number;
};

export type PiiSettings = PiiModes & { policy: CompiledPolicy; tokenizer: Tokenizer };

export type Channel = 'text' | 'json';

/** PII of one call: its texts on the way up, and its answer on the way down. All functions throw BudgetExceeded or HeldTooLong: refuse the call then. */
export type PiiSession = {
  /** Texts of the request, with values replaced. */
  request: (texts: readonly string[]) => string[];
  /** Texts of the answer. */
  answer: (texts: readonly string[]) => string[];
  /** Texts of an answer that are read one after another, as one. */
  running: (texts: readonly string[]) => string[];
  /** The stream of one channel: text, or JSON text of a tool call's arguments. `state` is of a stream that began elsewhere. */
  stream: (channel: Channel, state?: StreamState) => TextStream;
  /** Matches by entity, of request and answer. */
  requestCounts: PiiCounts;
  answerCounts: PiiCounts;
};

/** Whether streams are collected whole before they leave: a limit below what the built-in detectors need would only ever mean buffering. */
export const buffersStreams = ({ streamingMode = 'holdback', holdbackChars = BUILT_IN_REACH }: PiiModes, reach: number): boolean =>
  streamingMode === 'buffer' || (streamingMode === 'holdback' && reach > Math.max(holdbackChars, BUILT_IN_REACH));

export function piiSession(settings: PiiSettings): PiiSession {
  const { policy, tokenizer, requestMode, responseMode, streamingMode } = settings;
  const requestCounts: PiiCounts = new Map();
  const answerCounts: PiiCounts = new Map();
  const up: Rewriting = { policy, tokenizer, direction: 'request', restores: false, counts: requestCounts };
  const down: Rewriting = { policy, tokenizer, direction: 'answer', restores: responseMode === 'detokenize', counts: answerCounts };
  const buffers = buffersStreams(settings, policy.reach);
  const streamOf = (channel: Channel, rewriting: Rewriting, buffers: boolean, state: StreamState | undefined) =>
    channel === 'json'
      ? jsonStream(rewriting, { buffers, state: state as JsonState | undefined })
      : textStream(rewriting, { buffers, state: state as TextState | undefined });

  return {
    request: (texts) => (requestMode === 'off' ? [...texts] : each(texts, up)),
    answer: (texts) => each(texts, down),
    running: (texts) => rewrittenRunning(texts, down),
    stream(channel, state) {
      if (streamingMode !== 'monitor') return streamOf(channel, down, buffers, state);
      // Values leave as the model wrote them; only tokens are restored, and what would have been replaced is counted.
      const [stream, observer] = (state ?? []) as StreamState[];
      return observed(
        streamOf(channel, { ...down, policy: undefined }, false, stream),
        streamOf(channel, down, policy.reach === Number.POSITIVE_INFINITY, observer),
      );
    },
    requestCounts,
    answerCounts,
  };
}

/** All texts of a call under one budget of time. */
function each(texts: readonly string[], rewriting: Rewriting): string[] {
  const budget: Budget = budgetFor(texts.reduce((sum, { length }) => sum + length, 0));
  return texts.map((text) => rewritten(text, rewriting, budget));
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
    state: () => [stream.state(), observer.state()],
    get held() {
      return stream.held + observer.held;
    },
  };
}
