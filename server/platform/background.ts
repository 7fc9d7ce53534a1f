import { processState } from '#server/kernel/process-state.ts';
import { log } from './log.ts';

const running = processState('background', () => new Set<Promise<void>>());

/**
 * Starts work that an answer must not wait for, so that its time tells nothing about what was found. A failure is logged under `name`; work that
 * must survive a crash needs a row that a sweep finds again.
 */
export function inBackground(name: string, work: () => Promise<unknown>): void {
  const task = new Promise<void>((resolve) => setImmediate(resolve))
    .then(work)
    .then(
      () => {},
      (error: unknown) => log.error({ err: error }, `background work failed: ${name}`),
    )
    .finally(() => running.delete(task));
  running.add(task);
}

/** When everything that was started has ended: for an orderly stop, and for tests. */
export async function backgroundSettled(): Promise<void> {
  while (running.size > 0) await Promise.all(running);
}
