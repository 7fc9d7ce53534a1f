import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';

/** Every route must be of this space. @throws Refusal validation_error */
export async function checkRoutes(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const found = await tx.routes.findMany({ where: { ...own(ctx), id: { in: [...ids] } }, select: { id: true } });
  if (found.length < ids.length) throw invalid('route_filter', "names a route that doesn't exist in this space");
}

/** A key that signs must be of this space and of HMAC-SHA256, and whoever names it must be allowed to sign with it. @throws Refusal validation_error, forbidden */
export async function checkKey(tx: Tx, ctx: Ctx, id: string | null): Promise<void> {
  if (id === null) return;
  const key = await tx.crypto_keys.findFirst({
    where: { ...own(ctx), id, deleted_at: null },
    select: { key_type: true, managed_by: true },
  });
  if (!key) throw invalid('hmac_key_id', "names a crypto key that doesn't exist in this space");
  if (key.key_type !== 'hmac-sha256' || key.managed_by !== 'tenant')
    throw invalid('hmac_key_id', 'must be a crypto key of type hmac-sha256');
  if (!ctx.actor.capabilities.has('transit:sign'))
    throw new Refusal('forbidden', 'You need permission to sign with crypto keys (transit:sign) to let a webhook sign with one.');
}
