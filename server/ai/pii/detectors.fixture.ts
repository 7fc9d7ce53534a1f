import { type CompiledPolicy, compileRules, type PiiPolicy, piiRules } from './policy.ts';
import type { Recognizer } from './recognizer.ts';

/** A recognizer of member numbers. */
export const recognizer = (changes: Partial<Recognizer> = {}): Recognizer => ({
  id: '1',
  name: 'member_id',
  kind: 'regex',
  pattern: 'MEM-[0-9]{6}',
  context_words: [],
  confidence: 0.85,
  action: 'redact',
  format: null,
  enabled: true,
  ...changes,
});

/** A policy as a thread compiles it. */
export const compilePolicy = (policy: PiiPolicy | null, recognizers: readonly Recognizer[]): CompiledPolicy =>
  compileRules(piiRules(policy, recognizers));
