import { isOutage } from '#server/kernel/errors.ts';

/** Levels of graphile-worker's own messages, one lower: a job that ran is logged by who performed it. */
const LEVELS = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const;

export type QueueLine = { level: 'error' | 'warn' | 'debug' | 'trace'; details: { err?: unknown; job?: string }; message: string };

/**
 * A message of graphile-worker as a line of the log. It writes delays, IDs and the error itself into its sentences; in an outage only the beginning is kept, so
 * that the log can count them.
 */
export function queueLine(level: keyof typeof LEVELS, message: string, meta: object = {}): QueueLine {
  const { error: err, job } = meta as { error?: unknown; job?: { task_identifier?: string } };
  const name = job?.task_identifier;
  return {
    level: LEVELS[level],
    details: { ...(err !== undefined && { err }), ...(name !== undefined && { job: name }) },
    message: isOutage(err) ? `the job queue: ${/^[^;:(\d']*/.exec(message)?.[0].trim()}` : message,
  };
}
