import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Worker as Thread } from 'node:worker_threads';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';

// Work whose time or memory others choose runs here, so that no event loop waits for it: parsing, compiling and matching of what customers, callers and
// upstreams send. It has a deadline, bounded memory and a bounded line; being over ends the work and nothing else.

/** The work took longer than it may. */
export class WorkTooSlow extends Error {
  override readonly name = 'WorkTooSlow';
}
/** The work took more memory than it may. */
export class WorkTooLarge extends Error {
  override readonly name = 'WorkTooLarge';
}
/** A module that exports `run`, by its path from the root: `server/domain/sso/saml.thread.ts`. Input and output are structured clones. */
export type Work<I, O> = { file: string; run?: (input: I) => O | Promise<O> };
export const work = <I, O>(file: string): Work<I, O> => ({ file });

type Task = {
  id: number;
  owner: string;
  file: string;
  input: unknown;
  ms: number;
  anonymous: boolean;
  transfer: ArrayBuffer[];
  done: (outcome: Outcome) => void;
};
type Outcome = { value: unknown } | { error: Error };
type How = { owner: string; ms: number; most?: number; anonymous?: boolean; transfer?: ArrayBuffer[] };
type Runner = { thread: Thread; task: Task | null; timer: NodeJS.Timeout | undefined };

// The bundler must see neither the class nor the path: it would bundle the thread too, and that does not start. It runs from its source.
const { Worker } = process.getBuiltinModule('node:worker_threads');
const THREAD = path.resolve('server/platform/threads/thread.ts');
const THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));
const MEGABYTES = 256;
/** Of one owner, so that nobody fills the line for the others. Every kind of work is counted by itself, so that none closes the line for another. */
const MOST_OF_ONE = 20;
/** The line of a kind has room for as many owners that each fill theirs. */
const OWNERS = 5;
/** Of the line for work that anybody may ask for, from as many addresses as they have: the rest is for those who are known. */
const ANONYMOUS = 0.5;
/** A new thread loads the work's packages first, which is not the work's own time. */
const LOADING_MS = 20_000;

const pool = processState('threads', () => ({
  runners: new Set<Runner>(),
  waiting: new Map<string, Task[]>(),
  /** What waits of each kind of work, by its file. */
  kinds: new Map<string, { all: number; anonymous: number }>(),
  next: 0,
}));

/**
 * Runs the work on a thread and answers with what it returns or throws. `owner` is whose work it is, such as a workspace: owners take turns. Work for somebody
 * who isn't known yet is `anonymous`, and its owner an address. `ms` is the most that it may run once it has begun; `most` is how many of an owner may wait for this kind, where it takes milliseconds. @throws WorkTooSlow, WorkTooLarge, Refusal dependency_unavailable when too much is waiting, and the work's own errors by message: a work returns what
 * its caller expects, problems included
 */
export function onThread<I, O>(
  { file }: Work<I, O>,
  input: I,
  { owner, ms, most = MOST_OF_ONE, anonymous = false, transfer = [] }: How,
): Promise<O> {
  const line = pool.waiting.get(owner) ?? [];
  const all = most * OWNERS;
  const kind = pool.kinds.get(file) ?? { all: 0, anonymous: 0 };
  const own = line.filter((task) => task.file === file).length;
  if (own >= most || kind.all >= all || (anonymous && kind.anonymous >= all * ANONYMOUS)) return Promise.reject(busy());
  return new Promise<O>((resolve, reject) => {
    const done = (outcome: Outcome) => ('error' in outcome ? reject(outcome.error) : resolve(outcome.value as O));
    line.push({ id: pool.next++, owner, file, input, ms, anonymous, transfer, done });
    pool.waiting.set(owner, line);
    pool.kinds.set(file, kind);
    kind.all++;
    if (anonymous) kind.anonymous++;
    startNext();
  });
}

const busy = () =>
  new Refusal('dependency_unavailable', "Too many requests of this kind are in progress. Yours wasn't processed. Try again.", {
    retryAfter: 5,
  });

function startNext(): void {
  while (pool.waiting.size > 0) {
    const runner = idle();
    if (!runner) return;
    start(runner, shift());
  }
}

/** The first of the owner whose turn it is, who then goes to the end of the round. */
function shift(): Task {
  const [[owner, line]] = pool.waiting as unknown as [[string, Task[]]];
  const task = line.shift() as Task;
  pool.waiting.delete(owner);
  if (line.length > 0) pool.waiting.set(owner, line);
  const kind = pool.kinds.get(task.file) as { all: number; anonymous: number };
  kind.all--;
  if (task.anonymous) kind.anonymous--;
  return task;
}

function idle(): Runner | undefined {
  for (const runner of pool.runners) if (!runner.task) return runner;
  return pool.runners.size < THREADS ? newRunner() : undefined;
}

function newRunner(): Runner {
  const thread = new Worker(THREAD, {
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: MEGABYTES },
  });
  // The process may end while threads wait for work.
  thread.unref();
  const runner: Runner = { thread, task: null, timer: undefined };
  thread.on('message', (message: { began: true } | { id: number; outcome: Outcome }) => {
    if ('began' in message) return limit(runner);
    if (runner.task?.id === message.id) finish(runner, message.outcome);
    startNext();
  });
  thread.on('error', (error: NodeJS.ErrnoException) => {
    const large = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    void end(runner, large ? new WorkTooLarge('The work takes too much memory.') : error);
  });
  pool.runners.add(runner);
  return runner;
}

function start(runner: Runner, task: Task): void {
  runner.task = task;
  runner.thread.ref();
  runner.timer = setTimeout(() => end(runner, new WorkTooSlow('The work could not begin in time.')), LOADING_MS + task.ms);
  try {
    runner.thread.postMessage({ id: task.id, file: task.file, input: task.input }, task.transfer);
  } catch (error) {
    finish(runner, { error: error as Error }); // the input can't be cloned
  }
}

function limit(runner: Runner): void {
  clearTimeout(runner.timer);
  runner.timer = setTimeout(() => end(runner, new WorkTooSlow('The work takes too long.')), runner.task?.ms ?? 0);
}

function finish(runner: Runner, outcome: Outcome): void {
  clearTimeout(runner.timer);
  const { task } = runner;
  runner.task = null;
  runner.thread.unref();
  task?.done(outcome);
}

async function end(runner: Runner, error: Error): Promise<void> {
  pool.runners.delete(runner);
  finish(runner, { error });
  await runner.thread.terminate();
  startNext();
}
