import type { CompiledFirewall } from '#server/ai/firewall/policy.ts';
import { type Hit, outcomeOf, type Source, scan } from '#server/ai/firewall/scan.ts';
import { budgetFor } from '#server/ai/patterns/budget.ts';
import type { SpaceSnapshot } from '../../snapshot/slices.ts';
import { ControlFailed } from './control-failed.ts';

export type FirewallVerdict = {
  firewall: CompiledFirewall;
  /** Names of the rules that matched, each once. */
  rules: readonly string[];
  /** Undefined: nothing matched. */
  outcome: 'block' | 'warn' | 'tag' | undefined;
};

/** Scans the texts of one call under one budget of time. @throws ControlFailed firewall_unavailable */
export function judgePrompt(
  snapshot: SpaceSnapshot,
  policyId: string | null,
  texts: readonly { text: string; source: Source }[],
): FirewallVerdict {
  try {
    const firewall = snapshot.aiPolicies.firewall(policyId);
    const budget = budgetFor(2 * texts.reduce((sum, { text }) => sum + text.length, 0));
    const hits: Hit[] = texts.flatMap(({ text, source }) => scan(text, firewall, source, budget));
    return { firewall, rules: [...new Set(hits.map(({ rule }) => rule))], outcome: outcomeOf(hits, firewall) };
  } catch (error) {
    throw new ControlFailed('firewall_unavailable', error);
  }
}
