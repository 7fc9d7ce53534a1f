import type { FirewallRules } from '#server/ai/firewall/policy.ts';
import { outcomeOf } from '#server/ai/firewall/scan.ts';
import { type Scanned, scanTexts } from '#server/custody/ai/detectors/firewall.ts';
import type { SpaceSnapshot } from '../../snapshot/slices.ts';
import { ControlFailed } from './control-failed.ts';

export type FirewallVerdict = {
  firewall: FirewallRules;
  /** Names of the rules that matched, each once. */
  rules: readonly string[];
  /** Undefined: nothing matched. */
  outcome: 'block' | 'warn' | 'tag' | undefined;
};

/** Scans the texts of one call under one budget of time. @throws ControlFailed firewall_unavailable */
export async function judgePrompt(snapshot: SpaceSnapshot, policyId: string | null, texts: readonly Scanned[]): Promise<FirewallVerdict> {
  try {
    const firewall = snapshot.aiPolicies.firewall(policyId);
    const hits = (await scanTexts(firewall, texts, snapshot.tenant.id)).flat();
    return { firewall, rules: [...new Set(hits.map(({ rule }) => rule))], outcome: outcomeOf(hits, firewall) };
  } catch (error) {
    throw new ControlFailed('firewall_unavailable', error);
  }
}
