import { inOwnTransaction } from '#server/platform/own-transaction.ts';

type Token = { id: string; tenant_id: string; sandbox: boolean };

/**
 * Uses a one-shot token up: of any number of calls, in whatever process, exactly one gets true. Its signature is emptied by the same statement, so that
 * clearing the mark brings nothing back. @throws when the database doesn't answer; then the call is refused
 */
export async function consumeOneshot(token: Token): Promise<boolean> {
  const { rowCount } = await inOwnTransaction(token, (client) =>
    client.query({ name: 'ai-consume-oneshot', text: CONSUME, values: [token.tenant_id, token.sandbox, token.id] }),
  );
  return rowCount === 1;
}

const CONSUME = `update ai_tokens set oneshot_consumed_at = now(), capability_hmac = ''
  where tenant_id = $1 and sandbox = $2 and id = $3 and kind = 'oneshot' and oneshot_consumed_at is null and revoked_at is null`;
