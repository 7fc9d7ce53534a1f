import type { Job, Outcome } from '#server/ai/detectors/job.ts';
import { onThread, work } from '#server/platform/threads/pool.ts';
import type { Asked } from '#server/platform/threads/works.fixture.ts';

const DETECTORS = work<Job, Outcome<unknown>>('server/ai/detectors/detectors.thread.ts');
const SPINNER = work<Asked, unknown>('server/platform/threads/works.fixture.ts');

/** Runs something while every thread is at work and nothing more of the owner may wait for detectors; then all of it ends. */
export async function withFullLine<T>(owner: string, run: () => Promise<T>): Promise<T> {
  const spinning = Array.from({ length: 4 }, (_, i) => onThread(SPINNER, { spin: true }, { owner: `spinner ${i}`, ms: 1_000 }));
  const job: Job = { job: 'canary', texts: [], codes: [] };
  const waiting = Array.from({ length: 200 }, () => onThread(DETECTORS, job, { owner, ms: 60_000, most: 200 }));
  const ended = Promise.allSettled([...spinning, ...waiting]);
  try {
    return await run();
  } finally {
    await ended;
  }
}
