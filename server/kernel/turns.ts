import { Refusal } from './errors.ts';
import { processState } from './process-state.ts';

// The connections to the database belong to all workspaces. One whose calls wait for each other, or take long, may not hold them all: the others'
// calls would be refused although nothing of theirs is slow.

/** Connections of the domain in one process. */
export const CONNECTIONS = 10;
const WAIT_MS = 5_000;

type Waiting = { go: () => void };

const turns = processState('turns', () => ({ running: new Map<string, number>(), waiting: new Map<string, Waiting[]>(), total: 0 }));
const { running, waiting } = turns;

/**
 * Runs the work once its owner may have another connection: as many as half of what the others leave, and one in any case while there is one. Work of one
 * owner begins in the order it came, and the owners take turns. @throws Refusal dependency_unavailable after five seconds of waiting
 */
export async function inFairTurn<T>(owner: string, work: () => Promise<T>): Promise<T> {
  if (waiting.has(owner) || !mayBegin(owner)) await untilTurn(owner);
  else begin(owner);
  try {
    return await work();
  } finally {
    end(owner);
  }
}

function mayBegin(owner: string): boolean {
  const own = running.get(owner) ?? 0;
  return own * 2 < CONNECTIONS - (turns.total - own);
}

function begin(owner: string): void {
  running.set(owner, (running.get(owner) ?? 0) + 1);
  turns.total++;
}

function end(owner: string): void {
  const left = (running.get(owner) ?? 0) - 1;
  if (left > 0) running.set(owner, left);
  else running.delete(owner);
  turns.total--;
  for (const [next, line] of [...waiting]) {
    if (turns.total >= CONNECTIONS) return;
    const first = mayBegin(next) ? line.shift() : undefined;
    if (!first) continue;
    // To the end of the owners' line.
    waiting.delete(next);
    if (line.length > 0) waiting.set(next, line);
    begin(next);
    first.go();
  }
}

function untilTurn(owner: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const one: Waiting = {
      go() {
        clearTimeout(timer);
        resolve();
      },
    };
    const timer = setTimeout(() => {
      const line = (waiting.get(owner) ?? []).filter((other) => other !== one);
      if (line.length > 0) waiting.set(owner, line);
      else waiting.delete(owner);
      const words = "This workspace has too many requests in progress. Your request wasn't processed. Try again.";
      reject(new Refusal('dependency_unavailable', words, { retryAfter: 5 }));
    }, WAIT_MS);
    const line = waiting.get(owner);
    if (line) line.push(one);
    else waiting.set(owner, [one]);
  });
}
