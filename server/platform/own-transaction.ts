import type { PoolClient } from 'pg';
import type { Ctx } from '#server/kernel/context.ts';
import { ownSql } from './sql.ts';

/**
 * A transaction in one workspace and space under row-level security, without Prisma: for hot paths that need more than the one statement of `ownRows`.
 * A deadlock or serialization failure runs the work again, so it must have no effect that a rollback doesn't undo.
 */
export async function inOwnTransaction<T>(
  { tenant_id, sandbox }: Pick<Ctx, 'tenant_id' | 'sandbox'>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = await ownSql().connect();
    let lost: Error | undefined;
    try {
      await client.query('begin');
      await client.query({
        name: 'own-transaction',
        text: "select set_config('app.tenant_id', $1, true), set_config('app.sandbox', $2, true)",
        values: [tenant_id, String(sandbox)],
      });
      const result = await work(client);
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch((failed: Error) => {
        lost = failed;
      });
      if (attempt === MAX_ATTEMPTS || !RETRYABLE.has(String((error as { code?: unknown }).code))) throw error;
    } finally {
      client.release(lost);
    }
  }
}

const MAX_ATTEMPTS = 4;
/** SQLSTATEs: serialization failure and deadlock. */
const RETRYABLE = new Set(['40001', '40P01']);
