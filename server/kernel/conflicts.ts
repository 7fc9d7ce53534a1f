import { Refusal } from './errors.ts';
import { sqlStateOf } from './outage.ts';

/** For `.catch` after an insert or update: turns a unique violation into a conflict refusal and rethrows anything else. */
export const onUnique =
  (message: string) =>
  (error: unknown): never => {
    if (isUniqueViolation(error)) throw new Refusal('conflict', message);
    throw error;
  };

/** PostgreSQL 23505, as Prisma reports it. */
const isUniqueViolation = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'P2002';

/** SQLSTATEs: restrict and foreign key violations, unique violation, serialization failure, deadlock. */
const RETRYABLE = new Set(['23001', '23503', '23505', '40001', '40P01']);

/** Whether a transaction may have failed because of a concurrent one, so that a retry can succeed. Prisma reports a vanished row as P2025. */
export function isRetryableConflict(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'P2025' || RETRYABLE.has(sqlStateOf(error));
}
