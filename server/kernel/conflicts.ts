import { Refusal } from './errors.ts';

/** For `.catch` behind an insert or update: a broken unique index is the caller's conflict, anything else stays what it is. */
export const onUnique =
  (message: string) =>
  (error: unknown): never => {
    if (isUniqueViolation(error)) throw new Refusal('conflict', message);
    throw error;
  };

/** PostgreSQL 23505, as Prisma reports it. */
export const isUniqueViolation = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'P2002';
