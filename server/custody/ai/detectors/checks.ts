import type { CheckJob, Problem, ShowJob } from '#server/ai/detectors/job.ts';
import type { Heuristic } from '#server/ai/firewall/policy.ts';
import type { PiiRules } from '#server/ai/pii/policy.ts';
import type { Recognizer } from '#server/ai/pii/recognizer.ts';
import type { Shown } from '#server/ai/pii/shown.ts';
import { askDetectors } from './ask.ts';
import { nameOf, sourceOf } from './rules.ts';

/** Why the detectors can't run it, if they can't. `owner` is the workspace. @throws what `onThread` throws */
export const problemOf = (
  what: { recognizer: Omit<Recognizer, 'id' | 'enabled'> } | { heuristics: readonly Heuristic[] },
  owner: string,
): Promise<Problem | null> => askDetectors<CheckJob>({ job: 'check', ...what }, owner);

/** What rules do to a text of a request. @throws BudgetExceeded, UnsupportedPattern, and what `onThread` throws */
export async function shownMatches(text: string, rules: PiiRules, owner: string): Promise<Shown> {
  const { key } = await nameOf(rules);
  return askDetectors<ShowJob>({ job: 'show', policy: { key }, text }, owner, async () => ({
    job: 'show',
    policy: { key, source: await sourceOf(rules) },
    text,
  }));
}
