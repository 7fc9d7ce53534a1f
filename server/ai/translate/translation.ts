import { isObject, type JsonObject, objectOf, objectsOf } from '../json.ts';
import type { Stage, StreamEvent } from '../stream/event.ts';
import { settledConversation } from './anthropic-conversation.ts';
import { anthropicToChat } from './anthropic-to-chat.ts';
import { anthropicToConverse } from './anthropic-to-converse.ts';
import { chatToAnthropic } from './chat-to-anthropic.ts';
import { translatedError } from './errors.ts';
import { piecesOfAnthropic, turnOfAnthropic } from './from-anthropic.ts';
import { piecesOfChat, turnOfChat } from './from-chat.ts';
import { type CallNames, piecesOfConverse, turnOfConverse } from './from-converse.ts';
import { type Fates, MEMBERS } from './members.ts';
import {
  newReport,
  type RefusedRequest,
  Refusing,
  type RequestContext,
  reportMembers,
  type TranslatedRequest,
  type Unsupported,
} from './options.ts';
import { responsesToChat } from './responses-to-chat.ts';
import type { ClientShape, UpstreamShape } from './shapes.ts';
import { anthropicOfTurn, anthropicWriter } from './to-anthropic.ts';
import { chatOfTurn, chatWriter } from './to-chat.ts';
import { responseOfTurn, responsesWriter } from './to-responses.ts';
import type { Notes, Piece, Turn } from './turn.ts';

/** What a translation depends on beside the bodies. */
export type TranslationContext = {
  /** The model that is called. */
  readonly model: string;
  readonly provider: string | null;
  /** Stands for the answer's id where the provider gives none. */
  readonly requestId: string;
  readonly now: Date;
  /** The ceiling of output tokens of the call. */
  readonly ceiling?: number | undefined;
  /** The agent's rule for options without a counterpart; `refuse` when it is left out. */
  readonly unsupported?: Unsupported | undefined;
};

/** One attempt of one call, translated: first its request, then its answer, its stream or its error. */
export type Translation = {
  request: (body: JsonObject) => TranslatedRequest | RefusedRequest;
  /** Whether the provider's JSON is an answer at all: its shape says where the text and the tool calls would be. */
  answers: (answer: unknown) => boolean;
  /** Throws for what is no answer. */
  answer: (answer: unknown) => JsonObject;
  /** Events of the provider in, events of the caller's shape out. */
  stream: () => Stage;
  error: (status: number, answer: unknown) => { status: number; body: JsonObject };
  /** What the same translation is made of elsewhere, once its request was made: see {@link translationOf}. */
  readonly plan: TranslationPlan;
};

/** A translation as plain values, for a thread. */
export type TranslationPlan = {
  readonly from: ClientShape;
  readonly to: UpstreamShape;
  readonly context: TranslationContext;
  readonly notes: Notes;
};

/** Translates between two of the shapes for which {@link MEMBERS} has a table (spec/51 §6.2, §6.3). */
export const translation = (from: ClientShape, to: UpstreamShape, context: TranslationContext): Translation =>
  translationOf({ from, to, context, notes: {} });

/** The translation that a plan is of. */
export function translationOf(plan: TranslationPlan): Translation {
  const { from, to, context, notes } = plan;
  const names: CallNames = { id: context.requestId, model: context.model };
  const created = Math.floor(context.now.getTime() / 1_000);
  return {
    request(body) {
      try {
        const report = newReport(context.unsupported ?? 'refuse');
        reportMembers(body, MEMBERS[to][from] ?? NONE, report);
        return {
          body: requestBody(from, to, body, { ...context, structuredOutput: to === 'anthropic', report }, notes),
          warnings: report.warnings,
        };
      } catch (error) {
        if (error instanceof Refusing) return error.refused;
        throw error;
      }
    },
    answers: (answer) => isAnswer(to, answer),
    answer(answer) {
      if (!isAnswer(to, answer)) throw new Error('The answer has no message.');
      const turn: Turn =
        to === 'anthropic' ? turnOfAnthropic(answer) : to === 'openai-chat' ? turnOfChat(answer) : turnOfConverse(answer, names);
      if (from === 'anthropic') return anthropicOfTurn(turn, notes);
      return from === 'openai-chat' ? chatOfTurn(turn, notes, created) : responseOfTurn(turn, notes, created);
    },
    stream() {
      const read: (event: StreamEvent) => readonly Piece[] =
        to === 'anthropic' ? piecesOfAnthropic() : to === 'openai-chat' ? piecesOfChat() : piecesOfConverse(names);
      const write =
        from === 'anthropic'
          ? anthropicWriter(notes)
          : from === 'openai-chat'
            ? chatWriter(notes, created)
            : responsesWriter(notes, created);
      let open = false;
      return {
        push: (event) =>
          read(event).flatMap((piece) => {
            if (piece.kind === 'finish') open = true;
            else if (piece.kind === 'end') open = false;
            return write(piece);
          }),
        // A finished answer whose provider leaves out the last event still ends in the caller's shape.
        end: () => (open ? write({ kind: 'end' }) : []),
      };
    },
    error: (status, answer) => translatedError(from, status, answer),
    plan,
  };
}

function isAnswer(shape: UpstreamShape, answer: unknown): boolean {
  const body = objectOf(answer);
  if (shape === 'anthropic') return Array.isArray(body.content);
  const message = shape === 'openai-chat' ? objectsOf(body.choices)[0]?.message : objectOf(body.output).message;
  return isObject(message);
}

const NONE: Fates = new Map();

function requestBody(from: ClientShape, to: UpstreamShape, body: JsonObject, context: RequestContext, notes: Notes): JsonObject {
  const given = from === 'anthropic' ? settledConversation(body) : body;
  if (to === 'openai-chat') return from === 'anthropic' ? anthropicToChat(given, context, notes) : responsesToChat(given, context, notes);
  const chat = from === 'openai-responses' ? responsesToChat(body, context, notes) : body;
  const messages = from === 'anthropic' ? given : chatToAnthropic(chat, context, notes);
  return to === 'anthropic' ? messages : anthropicToConverse(messages, context, notes);
}
