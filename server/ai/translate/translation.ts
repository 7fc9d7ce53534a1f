import type { JsonObject } from '../json.ts';
import type { Shape } from '../shapes/shape.ts';
import type { Stage, StreamEvent } from '../stream/event.ts';
import { anthropicToChat } from './anthropic-to-chat.ts';
import { anthropicToConverse } from './anthropic-to-converse.ts';
import { chatToAnthropic } from './chat-to-anthropic.ts';
import { translatedError } from './errors.ts';
import { piecesOfAnthropic, turnOfAnthropic } from './from-anthropic.ts';
import { piecesOfChat, turnOfChat } from './from-chat.ts';
import { type CallNames, piecesOfConverse, turnOfConverse } from './from-converse.ts';
import {
  ANTHROPIC_OPTIONS,
  CHAT_OPTIONS,
  CONVERSE_OPTIONS,
  type RefusedRequest,
  Refusing,
  refusedOption,
  type TranslatedRequest,
} from './options.ts';
import { anthropicOfTurn, anthropicWriter } from './to-anthropic.ts';
import { chatOfTurn, chatWriter } from './to-chat.ts';
import type { Notes, Piece, Turn } from './turn.ts';

export type ClientShape = 'openai-chat' | 'anthropic';
export type UpstreamShape = 'openai-chat' | 'anthropic' | 'bedrock-converse';

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
};

/** One attempt of one call, translated: first its request, then its answer, its stream or its error. */
export type Translation = {
  request: (body: JsonObject) => TranslatedRequest | RefusedRequest;
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

/** Whether calls of one shape are translated into the other. */
export const isTranslated = (from: Shape, to: Shape): boolean =>
  (from === 'openai-chat' && (to === 'anthropic' || to === 'bedrock-converse')) ||
  (from === 'anthropic' && (to === 'openai-chat' || to === 'bedrock-converse'));

/** Translates between two of the shapes for which {@link isTranslated} holds (spec/51 §6.2, §6.3). */
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
        const options = from === 'openai-chat' ? CHAT_OPTIONS : to === 'openai-chat' ? ANTHROPIC_OPTIONS : CONVERSE_OPTIONS;
        return refusedOption(body, options) ?? requestBody(from, to, body, context, notes);
      } catch (error) {
        if (error instanceof Refusing) return error.refused;
        throw error;
      }
    },
    answer(answer) {
      const turn: Turn =
        to === 'anthropic' ? turnOfAnthropic(answer) : to === 'openai-chat' ? turnOfChat(answer) : turnOfConverse(answer, names);
      return from === 'openai-chat' ? chatOfTurn(turn, notes, created) : anthropicOfTurn(turn, notes);
    },
    stream() {
      const read: (event: StreamEvent) => readonly Piece[] =
        to === 'anthropic' ? piecesOfAnthropic() : to === 'openai-chat' ? piecesOfChat() : piecesOfConverse(names);
      const write = from === 'openai-chat' ? chatWriter(notes, created) : anthropicWriter(notes);
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

function requestBody(from: ClientShape, to: UpstreamShape, body: JsonObject, context: TranslationContext, notes: Notes): TranslatedRequest {
  const { model, provider, ceiling } = context;
  const request = { model, provider, ceiling, structuredOutput: to === 'anthropic' };
  if (to === 'openai-chat') return anthropicToChat(body, request, notes);
  const messages = from === 'openai-chat' ? chatToAnthropic(body, request, notes) : { body, warnings: [] };
  if (to === 'anthropic') return messages;
  const converse = anthropicToConverse(messages.body, notes);
  return { body: converse.body, warnings: [...messages.warnings, ...converse.warnings] };
}
