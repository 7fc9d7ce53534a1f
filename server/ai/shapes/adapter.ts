import type { JsonObject } from '../json.ts';
import type { StreamEvent, Wire } from '../stream/event.ts';
import type { Usage } from '../usage/usage.ts';
import type { Shape } from './shape.ts';

/** Who a text of a request or answer comes from. `metadata` labels the call, like an end user's id. */
export type TextRole = 'system' | 'user' | 'assistant' | 'tool_result' | 'tool_args' | 'reasoning' | 'metadata';

/** A text in a body, in its place: what is set stands in the body. `at` is the member of the body that holds it. */
export type TextRef = {
  readonly role: TextRole;
  readonly text: string;
  readonly at?: { readonly holder: object; readonly member: string };
  set: (text: string) => void;
};

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other';

/** What a ceiling did to a request: `clamped` is the new maximum when the caller had asked for more. */
export type Clamped = { readonly clamped?: number; readonly warnings: readonly string[] };

/** What decides the field that carries a ceiling. */
export type ClampTarget = { readonly model: string; readonly provider: string };

/** How a kind of request body says which tools may be called. */
export type ToolGrammar = {
  /** Names of functions, types of built-in tools, in the order of the body. */
  names: (body: JsonObject) => readonly string[];
  /** Keeps the tools whose name passes; with none left the members that speak of tools go too. Returns how many were dropped. */
  keep: (body: JsonObject, allowed: (name: string) => boolean) => number;
  /** The tools that the request forces; empty when the model may choose. */
  forced: (body: JsonObject) => readonly string[];
};

/** One shape's grammar, as pure functions over parsed bodies. Bodies are changed in place; members that nothing here knows stay as they are. */
export type Adapter = {
  readonly shape: Shape;
  /** Brings other spellings of the same members to the one that is checked. */
  prepare: (body: JsonObject) => void;
  model: (body: JsonObject) => string | undefined;
  setModel: (body: JsonObject, model: string) => void;
  /** Further models that the body lets the provider fall back to; each must pass the policy. */
  otherModels: (body: JsonObject) => readonly string[];
  /** Undefined for a shape that streams by its path. */
  wantsStream: (body: JsonObject) => boolean | undefined;
  setStream: (body: JsonObject, stream: boolean) => void;
  /** The maximum of output tokens of the whole call, all choices together; undefined without one. */
  maxTokens: (body: JsonObject) => number | undefined;
  clamp: (body: JsonObject, ceiling: number, target: ClampTarget) => Clamped;
  texts: (body: JsonObject) => TextRef[];
  /** Images and other inputs that count as one, for estimates. */
  images: (body: JsonObject) => number;
  /** Appends a line to the system text, as its last block; false where there is none. */
  appendSystem: (body: JsonObject, text: string) => boolean;
  /** The conversation goes on with this answer and a correction of the user's, for a retry under an output schema; false where it can't. */
  appendTurn: (body: JsonObject, answer: string, correction: string) => boolean;
  /** Asks the provider for output under a schema, when the body asks for none; false when the shape can't. */
  requestSchema: (body: JsonObject, schema: JsonObject) => boolean;
  readonly tools: ToolGrammar;

  usage: (answer: unknown) => Usage | undefined;
  /** Texts of an answer: of the assistant, of its reasoning and of the arguments of tool calls. */
  answerTexts: (answer: unknown) => TextRef[];
  /** The assistant's text of the first choice. */
  answerText: (answer: unknown) => string;
  finish: (answer: unknown) => FinishReason | undefined;
  /** Names of the tools that the answer calls. */
  toolCalls: (answer: unknown) => readonly string[];
  /** Replaces calls of tools that don't pass by a text that says so. Returns the names. */
  blockTools: (answer: unknown, allowed: (name: string) => boolean) => readonly string[];
  readonly stream: StreamGrammar;
};

/** A channel is one text that a stream writes piece by piece: the answer, a reasoning, the arguments of one tool call. */
export type Delta = { readonly channel: string; readonly kind: 'text' | 'tool_args' | 'reasoning'; readonly text: string };

export type StreamGrammar = {
  readonly wire: Wire;
  /** Fills in what providers leave out of events, before anything reads them; made once per stream, since it counts. */
  readonly completed?: () => (event: StreamEvent) => StreamEvent;
  /** Whether a stream that ends after this event is complete. */
  terminal: (event: StreamEvent) => boolean;
  /** How many of its answers an event finishes, where a stream is also complete once all are: some servers leave out the last event. */
  readonly finished?: (event: StreamEvent) => number;
  /** The message of an error that the provider sends in the stream. */
  failure: (event: StreamEvent) => string | undefined;
  /** Pieces of text in this event, each with its channel. */
  deltas: (event: StreamEvent) => readonly Delta[];
  /** Sets the piece of one channel in this event. */
  setDelta: (event: StreamEvent, channel: string, text: string) => StreamEvent;
  /** An event that carries a piece of a channel, made after the last one that did. */
  delta: (channel: string, text: string, like: StreamEvent) => StreamEvent;
  /** Channels that no later event writes to, or that another part of the answer ends: what is held back must go out before this event. `begun` begin with it. */
  closes: (event: StreamEvent, open: Iterable<string>, begun: readonly string[]) => readonly string[];
  /** Texts that an event repeats or sends whole. */
  texts: (event: StreamEvent) => readonly TextRef[];
  /** What an event says of usage; `sum` is what earlier events said. */
  usage: (event: StreamEvent, before: Usage | undefined) => Usage | undefined;
  /** Members whose strings are the text of an answer, for an estimate that parses nothing. */
  readonly textMembers: readonly string[];
  finish: (event: StreamEvent) => FinishReason | undefined;
};

/** What stands in an answer in place of a tool call that the agent's list doesn't allow. */
export const blockedTool = (name: string): string => `[The call of the tool "${name.slice(0, 64)}" was blocked by policy.]`;
