import type { ScanEachJob } from '#server/ai/detectors/job.ts';
import type { FirewallRules, Heuristic } from '#server/ai/firewall/policy.ts';
import { type Hit, type Source, scan, scanEach } from '#server/ai/firewall/scan.ts';
import { budgetFor } from '#server/ai/patterns/budget.ts';
import { askDetectors, MOST_HERE } from './ask.ts';
import { keyOf } from './rules.ts';

export type Scanned = { text: string; source: Source };

/**
 * The hits of each text, under one budget of time: on a thread unless the texts are short and only built-in rules run. `owner` is the workspace.
 * @throws BudgetExceeded, UnsupportedPattern, and what `onThread` throws: refuse the call then
 */
export async function scanTexts(
  { heuristics }: Pick<FirewallRules, 'heuristics'>,
  texts: readonly Scanned[],
  owner: string,
): Promise<Hit[][]> {
  const characters = charactersOf(texts);
  if (heuristics.length === 0 && characters <= MOST_HERE) {
    const budget = budgetFor(2 * characters);
    return texts.map(({ text, source }) => scan(text, [], source, budget));
  }
  const rules = rulesOf(heuristics);
  return askDetectors({ job: 'scan', rules, texts }, owner, async () => ({ job: 'scan', rules: { ...rules, source: heuristics }, texts }));
}

/**
 * The hits of each text, under a budget of its own: null for one that takes longer. Otherwise as `scanTexts`, and what it throws says nothing about the texts.
 * @throws BudgetExceeded, UnsupportedPattern, and what `onThread` throws
 */
export async function scanEachText(
  { heuristics }: Pick<FirewallRules, 'heuristics'>,
  texts: readonly Scanned[],
  owner: string,
): Promise<(Hit[] | null)[]> {
  if (heuristics.length === 0 && charactersOf(texts) <= MOST_HERE) return scanEach(texts);
  const rules = rulesOf(heuristics);
  const job = { job: 'scan_each', rules, texts } as const;
  return askDetectors<ScanEachJob>(job, owner, async () => ({ ...job, rules: { ...rules, source: heuristics } }));
}

const charactersOf = (texts: readonly Scanned[]): number => texts.reduce((sum, { text }) => sum + text.length, 0);
const rulesOf = (heuristics: readonly Heuristic[]) => (heuristics.length === 0 ? BUILT_INS : { key: keyOf(heuristics) });

const BUILT_INS: { key: string; source: readonly Heuristic[] } = { key: 'built-ins', source: [] };
