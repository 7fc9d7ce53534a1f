import type { z } from 'zod';
import { changed, type Looser, losesOne, turnedOff, weaker } from '#server/kernel/loosening.ts';
import type { UpdateFirewallPolicy, UpdatePiiPolicy, UpdatePiiRecognizer } from './schema.ts';

/** What a finding costs, the strictest first. */
const pii = weaker('redact', 'tokenize', 'warn', 'whitelist');

/** Without a list, every recognizer runs. */
const runsFewer = (before: readonly string[], after: readonly string[]): boolean =>
  after.length > 0 && (before.length === 0 || losesOne(before, after));

export const PII_POLICY_PROTECTIONS: Looser<Omit<z.output<typeof UpdatePiiPolicy>, 'id' | 'name'>> = {
  recognizer_ids: runsFewer,
  default_action: pii,
  description: 'harmless',
};

/** Nobody can say of two patterns which finds more. */
export const RECOGNIZER_PROTECTIONS: Looser<Omit<z.output<typeof UpdatePiiRecognizer>, 'id'>> = {
  name: 'harmless',
  kind: changed,
  pattern: changed,
  context_words: changed,
  confidence: changed,
  action: pii,
  format: 'harmless',
  enabled: turnedOff,
};

export const FIREWALL_PROTECTIONS: Looser<Omit<z.output<typeof UpdateFirewallPolicy>, 'id' | 'name'>> = {
  heuristics: losesOne,
  canary_enabled: turnedOff,
  action: weaker('block', 'warn', 'tag'),
};
