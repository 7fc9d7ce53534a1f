import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { ClaimPatterns } from './claims.shared.ts';
import type { ProviderName } from './providers.shared.ts';

type Row = Prisma.oauth_trust_bindingsGetPayload<object>;
export type Binding = Omit<Row, 'provider' | 'claims'> & { provider: ProviderName; claims: Record<string, ClaimPatterns> };

/** The row with what its checks guarantee of it. */
export const bindingOf = (row: Row): Binding => ({
  ...row,
  provider: row.provider as ProviderName,
  claims: row.claims as Record<string, ClaimPatterns>,
});

/** Newest first, as an exchange prefers them. */
export async function bindingsOfClient(tx: Tx, ctx: Ctx, clientRowId: string): Promise<Binding[]> {
  const rows = await tx.oauth_trust_bindings.findMany({
    where: { ...own(ctx), client_row_id: clientRowId },
    orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
  });
  return rows.map(bindingOf);
}

/** @throws Refusal not_found, also for a binding of another client */
export async function bindingById(tx: Tx, ctx: Ctx, clientRowId: string, id: string): Promise<Binding> {
  const row = isUuid(id) ? await tx.oauth_trust_bindings.findFirst({ where: { ...own(ctx), client_row_id: clientRowId, id } }) : null;
  if (!row) throw notFound();
  return bindingOf(row);
}
