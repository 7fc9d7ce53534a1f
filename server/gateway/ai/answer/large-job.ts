import type { FinishReason, TextRole } from '#server/ai/shapes/adapter.ts';
import type { Operation, Shape } from '#server/ai/shapes/shape.ts';
import type { TranslationPlan } from '#server/ai/translate/translation.ts';

// What a thread is asked to do with a long answer of a provider, and what it answers. The bytes are shared memory, so that only texts cross.

export type AnswerJob = {
  bytes: Uint8Array;
  /** As the provider wrote it. */
  shape: Shape;
  /** Tools that the answer may call; null: all. */
  allowed: ReadonlySet<string> | null;
  /** Into the caller's shape; null where it is the caller's already. */
  translation: TranslationPlan | null;
} & (
  | {
      on: 'read' /** Reads IDs of objects that the answer hands out. */;
      notes: boolean /** Makes the form that a cache keeps. */;
      keep: Keep | null;
    }
  /** `texts` are those that were changed, by their place among the texts that were read. */
  | { on: 'text' | 'write'; texts: ReadonlyMap<number, string> }
);
export type Keep = { operation: Operation; shape: Shape; most: number };

/** What the controls judge by. */
export type ReadAnswer = {
  texts: { role: TextRole; text: string }[];
  /** The assistant's text of the first choice. */
  text: string;
  finish: FinishReason | undefined;
  /** Whether calls of tools were replaced. */
  blocked: boolean;
  ids: string[];
  /** The JSON of the answer as the provider gave it, in the caller's shape, when it may be kept. */
  kept: string | undefined;
};

export type AnswerDone<J extends AnswerJob> = J extends { on: 'read' } ? ReadAnswer : J extends { on: 'text' } ? string : Uint8Array;
export type AnswerOutcome =
  | { value: ReadAnswer | string | Uint8Array }
  | { problem: 'unreadable' | 'too_large' | 'untranslatable'; message: string };
