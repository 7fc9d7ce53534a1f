import { listOf, objectOf, textAt } from '../json.ts';
import { DONE, dataOf, jsonOf, mentions, type StreamEvent } from '../stream/event.ts';
import { openAiUsage } from '../usage/provider-counts.ts';
import type { Adapter, StreamGrammar, TextRef, ToolGrammar } from './adapter.ts';
import type { Shape } from './shape.ts';

/** Where no tool can be named. */
export const noTools: ToolGrammar = { names: () => [], keep: () => 0, forced: () => [] };

/** A stream whose frames carry nothing that is read but their end. */
export const plainStream: StreamGrammar = {
  wire: 'sse',
  terminal: (event) => mentions(event, DONE) && dataOf(event).trim() === DONE,
  failure: failureIn,
  deltas: () => [],
  setDelta: (event) => event,
  delta: (_channel, _text, like) => like,
  closes: () => [],
  texts: () => [],
  usage: (_event, before) => before,
  textMembers: [],
  finish: () => undefined,
};

/** An adapter for a shape of which only some parts exist: the model is in the body, usage is as OpenAI's. */
export function plainAdapter(shape: Shape, parts: Partial<Adapter>): Adapter {
  return {
    shape,
    prepare: () => {},
    model: (body) => textAt(body, 'model'),
    setModel(body, model) {
      body.model = model;
    },
    otherModels: (body) => listOf(body.models).filter((one) => typeof one === 'string'),
    wantsStream: (body) => body.stream === true,
    setStream(body, stream) {
      body.stream = stream;
    },
    maxTokens: () => undefined,
    clamp: () => ({ warnings: [] }),
    texts: () => [],
    images: () => 0,
    appendSystem: () => false,
    appendTurn: () => false,
    requestSchema: () => false,
    tools: noTools,
    usage: (answer) => openAiUsage(objectOf(answer).usage),
    answerTexts: () => [],
    answerText: () => '',
    finish: () => undefined,
    toolCalls: () => [],
    blockTools: () => [],
    stream: plainStream,
    ...parts,
  };
}

/** The message of an `error` object in a frame, as most providers send it. */
export function failureIn(event: StreamEvent): string | undefined {
  if (!mentions(event, '"error"')) return undefined;
  const { error } = objectOf(jsonOf(event));
  if (error === undefined || error === null) return undefined;
  return typeof error === 'string' ? error : (textAt(error, 'message') ?? 'the provider reported an error');
}

/** Texts of an event; one that is changed has the event written anew. */
export function textsOfEvent(event: StreamEvent, refs: readonly TextRef[]): TextRef[] {
  return refs.map((ref) => ({
    role: ref.role,
    get text() {
      return ref.text;
    },
    set(text) {
      if (text === ref.text) return;
      ref.set(text);
      event.raw = undefined;
    },
  }));
}
