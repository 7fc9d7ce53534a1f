import { EventEmitter } from 'node:events';
import { Logger, type Runner, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import type { Job } from '#server/kernel/family.ts';
import { onDropConnections, openPool } from '#server/platform/healing-pool.ts';
import { log } from '#server/platform/log.ts';
import { connection } from '#server/platform/sql.ts';
import { tally } from '#server/platform/telemetry/meters.ts';
import { spanSink } from '#server/platform/telemetry/spans.ts';
import { queueLine } from './queue-lines.ts';
import { crontab, jobs, retiredJobs } from './schedules.ts';

export type Worker = {
  /** Resolves once the queue runs for the first time. */
  started: Promise<void>;
  /** Waits for running jobs, for at most `withinMs`. */
  stop: (withinMs: number) => Promise<void>;
};

// Jobs are named in code.
const runs = tally({ name: 'sallyport_job_runs', help: 'Runs of jobs that ended well' }, 'job');
const failures = tally({ name: 'sallyport_job_failures', help: 'Runs of jobs that failed' }, 'job');
const seconds = tally({ name: 'sallyport_job_run_seconds', help: 'Time spent in runs of jobs', unit: 's' }, 'job');

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** What a queue that the database failed gets to end its jobs: as long as graphile-worker waits before it tells them to. */
const ENDING_MS = 5_000;

/** Runs the queue until stopped: migrates its schema, and restarts with backoff when the database goes away. The queue then reruns interrupted jobs. */
export function startWorker(): Worker {
  let runner: Runner | undefined;
  let pool: pg.Pool | undefined;
  let stopping = false;
  let wake = () => {};
  /** Of pools of workers: the last runs, those before it have ended and may have left jobs locked. */
  const names: string[] = [];
  const events: WorkerEvents = new EventEmitter();
  events.on('pool:create', ({ workerPool }) => void names.push(workerPool.id));
  /** Resolves when the running queue has failed and had its time to end. */
  let late = Promise.withResolvers<void>();
  events.on('pool:fatalError', () => setTimeout(late.resolve, ENDING_MS).unref());
  // The queue keeps a connection to hear of new jobs, and would hear of none on a server that is no longer the primary.
  const endDropping = onDropConnections(() => setTimeout(late.resolve, ENDING_MS).unref());
  const started = Promise.withResolvers<void>();

  const serve = async () => {
    for (let delay = FIRST_DELAY_MS; !stopping; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
      const began = Date.now();
      try {
        pool = openPool({ ...connection(), max: 6, application_name: 'sallyport-worker' });
        late = Promise.withResolvers();
        runner = await run({
          pgPool: pool,
          taskList: taskList(),
          crontab: crontab(),
          concurrency: 4,
          noHandleSignals: true,
          pollInterval: 2_000,
          logger,
          events,
          // The end of a job is waited for when the queue stops, and one that the database doesn't take stops the queue. Without the delays it is
          // sent off: a failure is nobody's, and the job, with all of its name, stays locked for four hours.
          preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
        });
        await unlockJobs(pool, names.slice(0, -1));
        names.splice(0, names.length - 1);
        await removeRetiredJobs(pool);
        for (const [name] of Object.entries(jobs).filter(([, { atStart }]) => atStart))
          await runner.addJob(name, {}, { jobKey: name, jobKeyMode: 'preserve_run_at', queueName: name, maxAttempts: 3 });
        started.resolve();
        await Promise.race([runner.promise, late.promise]);
      } catch (error) {
        if (!stopping) log.warn({ err: error, retry_in_ms: delay }, 'cannot run the job queue');
      }
      // It has stopped by itself, or waits for connections that are lost, which may be for ever: another begins beside it.
      await Promise.race([close(runner, pool), late.promise]);
      runner = undefined;
      if (Date.now() - began > 60_000) delay = FIRST_DELAY_MS;
      if (stopping) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, delay);
      });
    }
  };
  const served = serve();

  return {
    started: started.promise,
    async stop(withinMs) {
      stopping = true;
      endDropping();
      wake();
      const ended = runner ? runner.stop().catch(() => {}) : Promise.resolve();
      let timer: NodeJS.Timeout | undefined;
      const tooLong = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      await Promise.race([Promise.all([ended, served]), tooLong]);
      clearTimeout(timer);
    },
  };
}

async function close(runner: Runner | undefined, pool: pg.Pool | undefined): Promise<void> {
  await runner?.stop().catch(() => {});
  await pool?.end().catch(() => {});
}

/** What a pool of workers held when the database went away. */
const unlockJobs = (pool: pg.Pool, names: readonly string[]) => pool.query('select graphile_worker.force_unlock_workers($1)', [names]);

const removeRetiredJobs = (pool: pg.Pool) =>
  pool.query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs where task_identifier = any($1)))', [
    retiredJobs,
  ]);

const taskList = (): TaskList => Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, perform(name, job)]));

type Task = NonNullable<TaskList[string]>;

const perform =
  (name: string, job: Job): Task =>
  async (payload, { abortSignal }) => {
    const began = performance.now();
    const result = await job
      .run({
        now: new Date(),
        payload: (payload ?? {}) as Record<string, unknown>,
        signal: abortSignal ?? new AbortController().signal,
      })
      .then(
        (done) => {
          ended(name, began, true);
          return done;
        },
        (error: unknown) => {
          ended(name, began, false);
          throw error;
        },
      );
    const ms = Math.round(performance.now() - began);
    log[isNews(result) ? 'info' : 'debug']({ job: name, result, ms }, 'job done');
  };

function ended(job: string, began: number, well: boolean): void {
  const now = performance.now();
  (well ? runs : failures).add(job);
  seconds.add(job, (now - began) / 1_000);
  const error = well ? {} : { error: 'job_failed' };
  spanSink()?.({ name: `job ${job}`, kind: 'internal', began, ended: now, attributes: { 'sallyport.job': job }, ...error });
}

/** A run that found nothing to do is logged at debug level only. */
const isNews = (result: unknown): boolean =>
  typeof result === 'number'
    ? result > 0
    : typeof result === 'object' && result !== null && Object.values(result).some((v) => (Array.isArray(v) ? v.length > 0 : Boolean(v)));

const logger = new Logger(() => (level, message, meta) => {
  const line = queueLine(level, message, meta);
  log[line.level](line.details, line.message);
});
