import { isExact, isSameNumber } from '#server/kernel/lossless-json.ts';
import { countAt, type JsonObject, objectOf } from '../json.ts';
import type { Clamped } from './adapter.ts';

/** How many answers a body asks for; lenient providers also read a number in a string. */
export function timesAt(body: JsonObject, member: string): number {
  const asked = Number(body[member] ?? 1);
  return Number.isFinite(asked) ? Math.min(128, Math.max(1, Math.floor(asked))) : 1;
}

/** Numbers that tell a model how to answer: settings, and not data of the caller's. */
const SETTINGS = new Set(
  'max_tokens max_completion_tokens max_output_tokens max_tokens_to_sample maxOutputTokens maxTokens maxTokenCount num_predict budget_tokens n best_of candidateCount temperature top_p topP top_k topK p k seed presence_penalty frequency_penalty presencePenalty frequencyPenalty top_logprobs logprobs dimensions top_n speed'.split(
    ' ',
  ),
);
const HOLDERS = ['generationConfig', 'inferenceConfig', 'textGenerationConfig', 'options', 'thinking'];

/** Writes settings such as 1.0 as the doubles that have their value, by which they are checked and lowered. All other numbers keep their digits. */
export function settleNumbers(body: JsonObject): void {
  for (const holder of [body, ...HOLDERS.map((name) => objectOf(body[name]))])
    for (const [name, value] of Object.entries(holder))
      if (isExact(value) && SETTINGS.has(name) && isSameNumber(value, Number(value))) holder[name] = Number(value);
}

/** Deletes members of a body. */
export function withNothing(body: JsonObject, ...members: readonly string[]): void {
  for (const member of members) delete body[member];
}

/**
 * Lowers each member that asks for more than the ceiling, and what is no count at all; with none of them present, the ceiling is inserted as `insert`.
 */
export function clampMembers(body: JsonObject, members: readonly string[], insert: string, ceiling: number): Clamped {
  const present = members.filter((member) => body[member] !== undefined && body[member] !== null);
  const over = present.filter((member) => {
    const asked = countAt(body, member);
    return asked === undefined || asked < 1 || asked > ceiling || asked !== body[member];
  });
  for (const member of over) body[member] = ceiling;
  if (present.length === 0) body[insert] = ceiling;
  return over.length > 0 ? { clamped: ceiling, warnings: [] } : { warnings: [] };
}
