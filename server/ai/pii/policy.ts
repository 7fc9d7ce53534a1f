import { LONGEST_MATCH } from '../patterns/linear-pattern.ts';
import { type CompiledRecognizer, compileRecognizers, isSidecarKind, type Recognizer, reachOf } from './recognizer.ts';
import type { PiiAction } from './span.ts';

/** A policy as it is stored; empty `recognizer_ids` stand for every enabled recognizer. */
export type PiiPolicy = { id: string; recognizer_ids: readonly string[]; default_action: PiiAction };

/** What is looked for in the texts of a call, as it is stored. */
export type PiiRules = {
  /** What built-in detectors do. Credentials are redacted in any case. */
  builtIns: PiiAction;
  recognizers: readonly Recognizer[];
  /** Whether a recognizer needs a sidecar; a text can't be judged without it. */
  needsSidecar: boolean;
};

/** What runs over the texts of a call. */
export type CompiledPolicy = {
  builtIns: PiiAction;
  recognizers: readonly CompiledRecognizer[];
  /** Characters that decide whether a match begins: what a stream holds back at most. Infinity: streams are buffered. */
  reach: number;
};

/** The policy with the recognizers of its workspace. Without a policy, built-ins tokenize and every enabled recognizer runs (interface rule 50 §7.1). */
export function piiRules(policy: PiiPolicy | null, recognizers: readonly Recognizer[]): PiiRules {
  const listed = policy?.recognizer_ids.length ? new Set(policy.recognizer_ids) : undefined;
  const chosen = recognizers.filter(({ id, enabled }) => enabled && (!listed || listed.has(id)));
  return {
    builtIns: policy?.default_action ?? 'tokenize',
    recognizers: chosen.filter(({ kind }) => !isSidecarKind(kind)),
    needsSidecar: chosen.some(({ kind }) => isSidecarKind(kind)),
  };
}

/** @throws UnsupportedPattern for a stored pattern that no longer compiles: the call is refused, never served unchecked */
export function compileRules({ builtIns, recognizers }: Pick<PiiRules, 'builtIns' | 'recognizers'>): CompiledPolicy {
  return { builtIns, recognizers: compileRecognizers(recognizers), reach: reachOfAll(recognizers.map(reachOf)) };
}

/** The reach of a policy whose recognizers have these. */
export function reachOfAll(reaches: readonly number[]): number {
  const longest = reaches.reduce((longest, reach) => Math.max(longest, reach), BUILT_IN_REACH);
  return longest > LONGEST_MATCH ? Number.POSITIVE_INFINITY : longest;
}

/** The longest match of a built-in detector that may contain spaces, and the reach of its context. Matches without spaces are held until they end. */
export const BUILT_IN_REACH = 96;

/** Built-ins alone, with what they do. */
export const builtInsOnly = (builtIns: PiiAction): CompiledPolicy => ({ builtIns, recognizers: [], reach: BUILT_IN_REACH });
