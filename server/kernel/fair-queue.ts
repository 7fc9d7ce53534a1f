import { Refusal } from './errors.ts';
import { processState } from './process-state.ts';

// All workspaces share the database connections. A workspace with slow or mutually blocking calls must not hold them all, or the calls of every other
// workspace would be refused.

/** Size of the domain's connection pool in one process. */
export const CONNECTIONS = 10;
/** How long a call waits for one of them. Tests wait longer: a slow machine is no fault of what they test. */
export const patience = processState('connection-patience', () => ({ ms: 5_000 }));

type Waiting = { start: () => void };

const queue = processState('fair-queue', () => ({ running: new Map<string, number>(), waiting: new Map<string, Waiting[]>(), total: 0 }));

/**
 * Runs the work once its owner may have another connection: up to half of those that other owners leave free, and always one while any is free.
 * First in, first out per owner; owners take turns. @throws Refusal dependency_unavailable after waiting for `patience`
 */
export async function runInFairQueue<T>(owner: string, work: () => Promise<T>): Promise<T> {
  if (queue.waiting.has(owner) || !mayStart(owner)) await enqueue(owner);
  else start(owner);
  try {
    return await work();
  } finally {
    finish(owner);
  }
}

function mayStart(owner: string): boolean {
  const own = queue.running.get(owner) ?? 0;
  return own * 2 < CONNECTIONS - (queue.total - own);
}

function start(owner: string): void {
  queue.running.set(owner, (queue.running.get(owner) ?? 0) + 1);
  queue.total++;
}

function finish(owner: string): void {
  const left = (queue.running.get(owner) ?? 0) - 1;
  if (left > 0) queue.running.set(owner, left);
  else queue.running.delete(owner);
  queue.total--;
  for (const [next, line] of [...queue.waiting]) {
    if (queue.total >= CONNECTIONS) return;
    const first = mayStart(next) ? line.shift() : undefined;
    if (!first) continue;
    // Moves the owner to the end of the round.
    queue.waiting.delete(next);
    if (line.length > 0) queue.waiting.set(next, line);
    start(next);
    first.start();
  }
}

function enqueue(owner: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const one: Waiting = {
      start() {
        clearTimeout(timer);
        resolve();
      },
    };
    const timer = setTimeout(() => {
      const line = (queue.waiting.get(owner) ?? []).filter((other) => other !== one);
      if (line.length > 0) queue.waiting.set(owner, line);
      else queue.waiting.delete(owner);
      const message = "This workspace has too many requests in progress. Your request wasn't processed. Try again.";
      reject(new Refusal('dependency_unavailable', message, { retryAfter: 5 }));
    }, patience.ms);
    const line = queue.waiting.get(owner);
    if (line) line.push(one);
    else queue.waiting.set(owner, [one]);
  });
}
