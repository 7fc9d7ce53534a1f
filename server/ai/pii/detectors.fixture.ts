import { type CompiledPolicy, compileRules, type PiiPolicy, piiRules } from './policy.ts';
import type { Recognizer } from './recognizer.ts';

/** A policy as a thread compiles it. */
export const compilePolicy = (policy: PiiPolicy | null, recognizers: readonly Recognizer[]): CompiledPolicy =>
  compileRules(piiRules(policy, recognizers));
