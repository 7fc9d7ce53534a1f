import { Refusal } from './errors.ts';

/** For `.catch` behind an insert or update: a broken unique index is the caller's conflict, anything else stays what it is. */
export const onUnique =
  (message: string) =>
  (error: unknown): never => {
    if (isUniqueViolation(error)) throw new Refusal('conflict', message);
    throw error;
  };

/** PostgreSQL 23505, as Prisma reports it. */
const isUniqueViolation = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'P2002';

/** Of PostgreSQL: a foreign key from either of its sides, a unique index, a serialization failure, a deadlock. */
const OVERTAKEN = new Set(['23001', '23503', '23505', '40001', '40P01']);

/** Whether a transaction failed for what another one did meanwhile, and not for what it was asked. A row that is gone is Prisma's P2025. */
export function isOvertaken(error: unknown): boolean {
  const { code, meta } = (error ?? {}) as { code?: unknown; meta?: { driverAdapterError?: { cause?: { originalCode?: unknown } } } };
  return code === 'P2025' || OVERTAKEN.has(String(meta?.driverAdapterError?.cause?.originalCode));
}
