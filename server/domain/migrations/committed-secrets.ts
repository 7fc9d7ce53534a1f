import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';

/** Rules and routes serve what this migration brought here and nothing else: no other secret leaves by them. @throws Refusal validation_error */
export async function assertCommittedHere(tx: Tx, ctx: Ctx, migrationId: string, secretId: string): Promise<void> {
  const item = await tx.secret_migration_items.findFirst({
    where: { ...own(ctx), migration_id: migrationId, status: 'committed', committed_secret_ids: { has: secretId } },
    select: { id: true },
  });
  const secret = item && (await tx.secrets.findFirst({ where: { ...own(ctx), id: secretId }, select: { id: true } }));
  if (!secret) throw invalid('committed_secret_id', 'no such secret was committed by this migration');
}
