import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { insertSealed } from '../service.ts';
import { sealedCertificate } from './certificates.ts';

type NewCertificate = Parameters<typeof insertSealed>[2] & { pem: string };

/** A certificate inside another verb's transaction; that verb hands `entry` to its own `audited`. @throws Refusal validation_error, plan_limit, conflict, tenant_sealed */
export async function insertCertificate(tx: Tx, ctx: Ctx, { pem, ...place }: NewCertificate) {
  const material = { certificate_content: pem, certificate_type: 'pem' as const, private_key: undefined, passphrase: undefined };
  const { facts, sealed } = await sealedCertificate(ctx, material);
  const { row, entry } = await insertSealed(tx, ctx, place, sealed, { secret_type: 'certificate', cert_metadata: facts });
  return { id: row.id, name: row.name, entry };
}
