import { fork } from 'node:child_process';
import path from 'node:path';
import { root } from './command.ts';

/** A test file to run; a `bare` one has a process of its own and no test around it. */
export type Job = { file: string; bare: boolean };
export type ToWorker = { job?: Job | undefined };
/** `next` asks for a file; `cpu` is the processor time, in seconds, that the process has used. */
export type FromWorker = { type: 'next'; cpu: number } | Result;
/** `nesting` is 0 for the test that stands for a file, unless it runs bare. */
export type Result = {
  type: 'result';
  name: string;
  nesting: number;
  where: string;
  suite: boolean;
  ms: number;
  skipped: boolean;
  failure: string | undefined;
};

/** What became of a file: `output` is what its process printed meanwhile, `cpu` the processor time of that process in seconds. */
export type Finished = { job: Job; results: readonly Result[]; output: string; seconds: number; cpu: number };

type Options = { processes: number; heldMs: number; execArgv: readonly string[]; onFinished: (finished: Finished) => void };

/** So long a process may say nothing: a test that hangs is a test that failed. */
const SILENCE_MS = 600_000;

/**
 * Runs `alone`, each in a process of its own, and `together`, one after the other in as few processes as there may be at once. A process that ends before
 * its file does fails that file, and another goes on.
 */
export async function runPool(alone: readonly Job[], together: readonly Job[], options: Options): Promise<void> {
  const first = [...alone];
  const rest = [...together];
  const slot = async () => {
    for (let job = first.shift(); job; job = first.shift()) await runProcess([job], options);
    while (rest.length > 0) await runProcess(rest, options);
  };
  await Promise.all(Array.from({ length: options.processes }, slot));
}

type Running = { job: Job; results: Result[]; output: string; began: number; cpu: number | undefined };

/** One process that takes jobs from the front of the list until none is left, or until it ends. */
function runProcess(jobs: Job[], { execArgv, heldMs, onFinished }: Options): Promise<void> {
  const child = fork(path.join(root, 'scripts/test-worker.ts'), [String(heldMs)], {
    execArgv: [...execArgv, `--test-reporter=${path.join(root, 'scripts/test-reporter.ts')}`, '--test-reporter-destination=stdout'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // Results come a little later than the process leaves a file: they are those of the first.
  const running: Running[] = [];
  let used = 0;
  let failed = false;
  const finish = ({ cpu = 0, began, ...one }: Running) => onFinished({ ...one, cpu, seconds: (performance.now() - began) / 1000 });
  const hasEnded = ({ results }: Running) => results.some(({ nesting }) => nesting === 0);
  const isOver = (one: Running) => one.cpu !== undefined && !one.job.bare && hasEnded(one);
  const silence = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS);
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      const last = running.at(-1);
      if (last) last.output += bytes;
    });
  child.on('message', (message: FromWorker) => {
    silence.refresh();
    if (message.type === 'result') {
      running[0]?.results.push(message);
      failed ||= message.failure !== undefined;
    } else {
      const last = running.at(-1);
      if (last) last.cpu = message.cpu - used;
      used = message.cpu;
      const job = jobs.shift();
      if (job) running.push({ job, results: [], output: '', began: performance.now(), cpu: undefined });
      child.send({ job } satisfies ToWorker);
    }
    // The last stays until the process has ended: it may be held by something.
    for (let [first] = running; first && isOver(first) && (running.length > 1 || jobs.length > 0); [first] = running) {
      running.shift();
      finish(first);
    }
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(silence);
      for (const one of running) {
        const ended = one.job.bare || hasEnded(one);
        // A failed test gives its process an exit code too.
        if (!ended || (code !== 0 && !failed)) one.results.push(lost(one.job, `The process ended with ${signal ?? `code ${code}`}.`));
        finish(one);
      }
      resolve();
    });
  });
}

const lost = ({ file }: Job, failure: string): Result => ({
  type: 'result',
  name: file,
  nesting: 0,
  where: `${file}:1`,
  suite: false,
  ms: 0,
  skipped: false,
  failure,
});
