import { createClientCa, type IssuedClientCertificate, issueClientCertificate, openedClientCa } from '#server/crypto/client-certificate.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring } from '#server/platform/keys.ts';

/** A certificate for a client from the workspace's own authority, which is made at the first issue (interface rule 11 §3). */
export async function issueFor(tx: Tx, ctx: Ctx, client: { id: string; name: string }, ttlDays: number): Promise<IssuedClientCertificate> {
  const stored = (await tx.client_authorities.findUnique({ where: { tenant_id: ctx.tenant_id } })) ?? (await createAuthority(tx, ctx));
  const key = await keyring().openValue(placeOf(ctx, stored.id), {
    value_ct: stored.key_ct,
    cek_wrapped: stored.cek_wrapped,
    tmk_version: stored.tmk_version,
  });
  try {
    return await issueClientCertificate(openedClientCa(stored.certificate_pem, key), {
      client_id: client.id,
      name: client.name,
      ttl_days: ttlDays,
      now: ctx.now,
    });
  } finally {
    key.fill(0);
  }
}

/** Two first issues at once: one authority is kept, both use it. */
async function createAuthority(tx: Tx, ctx: Ctx) {
  const id = newId();
  const made = await createClientCa(ctx.tenant_id, ctx.now);
  const key = Buffer.from(made.private_key_pem);
  const { value_ct, cek_wrapped, tmk_version } = await keyring().sealValue(placeOf(ctx, id), key);
  key.fill(0);
  await tx.client_authorities.createMany({
    data: {
      id,
      tenant_id: ctx.tenant_id,
      certificate_pem: made.certificate_pem,
      key_ct: value_ct,
      cek_wrapped,
      tmk_version,
      created_at: ctx.now,
    },
    skipDuplicates: true,
  });
  return tx.client_authorities.findUniqueOrThrow({ where: { tenant_id: ctx.tenant_id } });
}

/** One authority serves both spaces: a thumbprint is looked up in one space only. */
const placeOf = (ctx: Ctx, id: string) => ({ tenant_id: ctx.tenant_id, space: '-', purpose: 'pki_key', row_id: id }) as const;
