import type { Tx } from '#server/kernel/database.ts';
import type { OAuthClient } from './client.ts';

/**
 * Whether the client is as it was when the request was authenticated: neither disabled nor revoked since, nor its secret replaced. Whoever does that waits for
 * this transaction, and then finds what was issued. The same order as theirs: first the client, then what it obtained.
 */
export async function stillAuthenticated(tx: Tx, { id, epoch }: Pick<OAuthClient, 'id' | 'epoch'>): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    select 1 from oauth_clients where id = ${id}::uuid and active and revoked_at is null and epoch = ${epoch} for share`;
  return found.length === 1;
}
