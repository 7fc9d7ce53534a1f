import type { FinishReason } from '../shapes/adapter.ts';
import type { Usage } from '../usage/usage.ts';

/** A part of an answer, whichever shape it came in. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string; readonly signature?: string | undefined }
  | { readonly kind: 'tool'; readonly id: string; readonly name: string; readonly json: string };

/** A whole answer. */
export type Turn = {
  readonly id: string;
  readonly model: string;
  readonly blocks: readonly Block[];
  readonly finish: FinishReason;
  /** The stop sequence that ended it. */
  readonly stopSequence?: string | undefined;
  readonly usage: Usage | undefined;
};

/** A piece of a streamed answer. `key` tells the tool calls of one answer apart. */
export type Piece =
  | { readonly kind: 'start'; readonly id: string; readonly model: string; readonly usage?: Usage | undefined }
  | { readonly kind: 'text' | 'reasoning' | 'signature'; readonly text: string }
  | { readonly kind: 'tool'; readonly key: string; readonly id: string; readonly name: string }
  | { readonly kind: 'arguments'; readonly key: string; readonly text: string }
  | { readonly kind: 'finish'; readonly finish: FinishReason; readonly stopSequence?: string | undefined }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'ping' }
  | { readonly kind: 'end' };

/** A tool as its request named it: `custom` takes a text and no JSON. */
export type ToolName = { readonly name: string; readonly namespace?: string | undefined; readonly custom?: boolean };

/** What a translation of an answer must know of the request. */
export type Notes = {
  /** The tool that stands for a schema of the answer: its arguments are the answer's text. */
  jsonTool?: string;
  /** The caller asked for reasoning, so that it may see it. */
  reasoning?: boolean;
  /** The caller of an OpenAI stream asked for usage. */
  includeUsage?: boolean;
  /** Tools of a Responses request under the names that they were sent with. */
  tools?: Map<string, ToolName>;
};

/** The name of {@link Notes.jsonTool}. */
export const JSON_TOOL = 'json_response';

/** The part of an id after its prefix: `msg_01A` and `chatcmpl-01A` are one id in two shapes. */
export const idSuffix = (id: string): string => id.slice(Math.max(id.indexOf('_'), id.indexOf('-')) + 1) || 'unknown';
