import { invalid } from '#server/kernel/errors.ts';
import { onThread, WorkTooLarge, WorkTooSlow, work } from '#server/platform/threads/pool.ts';
import type { Entry, Judged, Judging } from './denying.thread.ts';
import type { Pattern } from './denylist.shared.ts';

const JUDGE = work<Judging, Judged>('server/domain/migrations/denying.thread.ts');
const MS = 10_000;

export type DenyOptions = { /** The workspace. */ owner: string; field?: string };

/** Whether each entry's name or tags are denied; a thread judges. @throws Refusal validation_error naming the pattern that can't be read, or that they take too long; dependency_unavailable */
export async function deniedOf(
  patterns: readonly Pattern[],
  entries: readonly Entry[],
  { owner, field = 'patterns' }: DenyOptions,
): Promise<boolean[]> {
  const plain = patterns.map(({ pattern, kind }) => ({ pattern, kind }));
  const judged = await onThread(JUDGE, { patterns: plain, entries }, { owner, ms: MS }).catch((error: unknown) => {
    if (error instanceof WorkTooSlow || error instanceof WorkTooLarge)
      throw invalid(field, 'take too long to judge the names that wait. Use fewer or simpler regular expressions');
    throw error;
  });
  if ('problem' in judged) throw invalid(`${field}.${judged.index}.pattern`, judged.problem);
  return judged.denied;
}
