import type { Done, Job, Outcome } from '#server/ai/detectors/job.ts';
import { BudgetExceeded } from '#server/ai/patterns/budget.ts';
import { UnsupportedPattern } from '#server/ai/patterns/compile.ts';
import { HeldTooLong } from '#server/ai/pii/text-stream.ts';
import { onThread, work } from '#server/platform/threads/pool.ts';

const DETECTORS = work<Job, Outcome<unknown>>('server/ai/detectors/detectors.thread.ts');
/** The budget of processor time ends the work long before; this is for what doesn't look at it. */
const MS = 60_000;
/** Of one workspace: its calls wait for each other, and what they hold in memory is bounded by their bodies. */
const MOST_WAITING = 200;

/** Characters of a call that built-in detectors read where they are: the worst text takes them 5 ms (`npm run bench -- detectors`). */
export const MOST_HERE = 8 * 1024;

/**
 * Runs a job of the detectors on a thread. `withSources` is the job with its rules and tokens, for a thread that doesn't know them. `owner` is the workspace.
 * @throws BudgetExceeded, HeldTooLong, UnsupportedPattern, and what `onThread` throws: refuse the call then
 */
export async function askDetectors<J extends Job>(job: J, owner: string, withSources?: () => Promise<J>): Promise<Done<J>> {
  const asked = (one: J) => onThread(DETECTORS, one, { owner, ms: MS, most: MOST_WAITING });
  const first = await asked(job);
  const outcome = 'missing' in first && withSources ? await asked(await withSources()) : first;
  if ('value' in outcome) return outcome.value as Done<J>;
  if ('missing' in outcome) throw new Error('the detectors were given no rules');
  throw new PROBLEMS[outcome.problem](outcome.message);
}

const PROBLEMS = { budget_exceeded: BudgetExceeded, held_too_long: HeldTooLong, unsupported_pattern: UnsupportedPattern };
