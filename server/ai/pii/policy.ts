import { LONGEST_MATCH } from '../patterns/linear-pattern.ts';
import { type CompiledRecognizer, compileRecognizer, isSidecarKind, type Recognizer } from './recognizer.ts';
import type { PiiAction } from './span.ts';

/** A policy as it is stored; empty `recognizer_ids` stand for every enabled recognizer. */
export type PiiPolicy = { id: string; recognizer_ids: readonly string[]; default_action: PiiAction };

/** What runs over the texts of a call. */
export type CompiledPolicy = {
  /** What built-in detectors do. Credentials are redacted in any case. */
  builtIns: PiiAction;
  recognizers: readonly CompiledRecognizer[];
  /** Recognizers that a sidecar runs; a text can't be judged without it. */
  sidecar: readonly Recognizer[];
  /** Characters that decide whether a match begins: what a stream holds back at most. Infinity: streams are buffered. */
  reach: number;
};

/**
 * The policy with the recognizers of its workspace. Without a policy, built-ins tokenize and every enabled recognizer runs (interface rule 50 §7.1).
 * @throws UnsupportedPattern for a stored pattern that no longer compiles: the call is refused, never served unchecked
 */
export function compilePolicy(policy: PiiPolicy | null, recognizers: readonly Recognizer[]): CompiledPolicy {
  const listed = policy?.recognizer_ids.length ? new Set(policy.recognizer_ids) : undefined;
  const chosen = recognizers.filter(({ id, enabled }) => enabled && (!listed || listed.has(id)));
  const compiled = chosen.filter(({ kind }) => !isSidecarKind(kind)).map(compileRecognizer);
  const sidecar = chosen.filter(({ kind }) => isSidecarKind(kind));
  const longest = compiled.reduce((reach, one) => Math.max(reach, one.reach), BUILT_IN_REACH);
  return {
    builtIns: policy?.default_action ?? 'tokenize',
    recognizers: compiled,
    sidecar,
    reach: sidecar.length > 0 || longest > LONGEST_MATCH ? Number.POSITIVE_INFINITY : longest,
  };
}

/** The longest match of a built-in detector that may contain spaces, and the reach of its context. Matches without spaces are held until they end. */
export const BUILT_IN_REACH = 96;

/** Built-ins alone, which tokenize: an agent without a policy in a workspace without recognizers. */
export const BUILT_INS_ONLY: CompiledPolicy = compilePolicy(null, []);
