import type { Tx } from '#server/kernel/database.ts';
import { db } from './db.ts';

export type JobOptions = {
  /** Not before this time; at once when absent. */
  run_at?: Date;
  /** A waiting job of the same key is replaced instead of doubled. */
  job_key?: string;
  /** Tries in all, with growing pauses; 25 when absent. */
  max_attempts?: number;
};

/**
 * Puts a job into the worker's queue. With `tx` it exists when that transaction commits and not otherwise, also inside row-level security;
 * with null it is written at once. `payload` is plain JSON without secrets: it stands in the database in clear.
 */
export async function addJob(tx: Tx | null, name: string, payload: Record<string, unknown> = {}, options: JobOptions = {}): Promise<void> {
  const { run_at = null, job_key = null, max_attempts = null } = options;
  await (tx ?? db())
    .$queryRaw`select enqueue_job(${name}, ${JSON.stringify(payload)}::jsonb, ${run_at}::timestamptz, ${job_key}::text, ${max_attempts}::integer)::text`;
}
