import { confirmMove } from '#server/domain/reveals/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { widensPins } from './hosts.ts';

type Pinned = { id: string; name: string; is_escrow: boolean; allowed_hosts: unknown };

/**
 * Other pins of secrets whose values stay: whoever may widen them may see the values. A first pin and fewer hosts are free, and so is a secret without a
 * value. `field` is what the input calls the pins. @returns details of the audit entry @throws Refusal as `confirmMove`
 */
export async function confirmPins(
  tx: Tx,
  ctx: Ctx,
  changes: readonly { before: Pinned; after: readonly string[] | null }[],
  { field, route }: { field: string; route: string },
) {
  const widened = changes
    .filter(({ before, after }) => widensPins(before.allowed_hosts as string[] | null, after))
    .map(({ before }) => before);
  if (widened.length === 0) return {};
  const holding = await holdingValues(tx, ctx, widened);
  return confirmMove(tx, ctx, {
    moved: [field],
    kept: holding.map(({ name }) => (changes.length === 1 ? 'value' : name)),
    again: [],
    // Where escrow is never revealed, hosts of a wrap credential may still have to change: an Owner or Admin confirms that, and Owners are mailed.
    reveal: { class: holding.some((one) => one.is_escrow) && (await escrowNeverReveals(tx, ctx)) ? 'B' : 'A', policy: 'secret:reveal' },
    about: holding,
    route,
  });
}

/** Those with a value in some environment, or one that can still be restored. */
async function holdingValues<S extends { id: string }>(tx: Tx, ctx: Ctx, secrets: readonly S[]): Promise<S[]> {
  const held = await tx.secret_environments.findMany({
    where: { ...own(ctx), secret_id: { in: secrets.map(({ id }) => id) }, values: { some: { wiped_at: null } } },
    select: { secret_id: true },
  });
  const ids = new Set(held.map(({ secret_id }) => secret_id));
  return secrets.filter(({ id }) => ids.has(id));
}

/** Whether the workspace's settings let nobody reveal wrap credentials. */
export async function escrowNeverReveals(tx: Tx, { tenant_id }: Ctx): Promise<boolean> {
  const { settings } = await tx.tenants.findUniqueOrThrow({ where: { id: tenant_id }, select: { settings: true } });
  return settingsOf(settings).escrow_never_reveal;
}
