import { assertUsesSecrets } from '#server/domain/policies/service.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';

type Leaving = { id: string; from: string | null; to: string | null };

/**
 * A secret in a collection is named only by callers of that collection's routes (`same_collection`). One that leaves it is open to those of others: whoever
 * takes it out must be able to use it, and confirms. Putting one into a collection is free. Call it in the transaction of the change, before it writes.
 * @throws Refusal forbidden, role_denied, step_up_required
 */
export async function confirmOpened(tx: Tx, ctx: Ctx, leaving: readonly Leaving[]): Promise<void> {
  const opened = leaving.filter(({ from, to }) => from !== null && from !== to).map(({ id }) => id);
  if (opened.length === 0) return;
  await assertUsesSecrets(ctx, opened, 'a route');
  await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, ['collection_id']);
}
