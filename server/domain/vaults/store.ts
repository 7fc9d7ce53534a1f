import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { TokenFormat } from './formats.shared.ts';
import type { CUSTODY_MODES } from './schema.ts';

/** A row of the table, in which the schema keeps the words. */
export type VaultRow = Omit<Prisma.vaultsGetPayload<{ omit: typeof SEALED }>, keyof Words> & Words;
type Words = {
  token_format: TokenFormat;
  custody_mode: (typeof CUSTODY_MODES)[number];
  metadata_jsonb: Record<string, unknown>;
  allowed_hosts: string[] | null;
};

/** Nothing that manages a vault reads what is sealed. */
export const SEALED = { value_ct: true, cek_wrapped: true, tmk_version: true } as const;

/** By ID or by name, exactly as it is written: no name looks like an ID. @throws Refusal not_found, for deleted vaults too */
export async function vaultByRef(tx: Tx, ctx: Ctx, ref: string): Promise<VaultRow> {
  const row = await tx.vaults.findFirst({
    where: { ...own(ctx), deleted_at: null, ...(isUuid(ref) ? { id: ref.toLowerCase() } : { name: ref }) },
    omit: SEALED,
  });
  if (!row) throw notFound();
  return row as VaultRow;
}

/** As by reference, holding the row until the transaction ends. Tokens can be stored meanwhile. */
export async function lockedVault(tx: Tx, ctx: Ctx, ref: string): Promise<VaultRow> {
  const { id } = await vaultByRef(tx, ctx, ref);
  await tx.$queryRaw`select 1 from vaults where id = ${id}::uuid for no key update`;
  return vaultByRef(tx, ctx, id);
}

/** Everything of a token but its value. */
export const LISTED = {
  id: true,
  token: true,
  expires_at: true,
  created_at: true,
  card_exp: true,
  created_by_api_key_id: true,
  created_by_user_id: true,
} as const;
type Listed = Prisma.vault_tokensGetPayload<{ select: typeof LISTED }>;

export const listedToken = ({ card_exp, ...row }: Listed) => ({
  ...row,
  card_expires_on: card_exp?.toISOString().slice(0, 10) ?? null,
  card_funding_type: null,
  card_issuing_country: null,
});

/** A person's id; null for machines. */
export const personOf = ({ actor }: Ctx): string | null => (actor.type === 'member' ? actor.id : null);
