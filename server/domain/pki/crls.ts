import { certificateRevocationList, MOST_ENTRIES, type Reason, type RevokedEntry } from '#server/crypto/pki/crl.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { openAuthority } from './ca-keys.ts';
import type { IntermediateRow, RootRow } from './store.ts';

const DAY = 24 * 3_600_000;
/** Clocks of relying parties differ. */
export const BACKDATING_MS = 60_000;
const LASTS = { intermediate: 7 * DAY, root: 30 * DAY };

/** The empty place of a list, which `signCrl` fills. */
export const insertCrl = (tx: Tx, ctx: Ctx, issuerId: string, ca_root_id: string) =>
  tx.pki_crls.create({ data: { ...own(ctx), id: issuerId, ca_root_id, stale_since: ctx.now }, select: { id: true } });

/**
 * Signs the list of one issuer anew, under the next number; two at once sign one after the other. An issuer that is revoked or expired keeps its last list.
 * @returns whether a list was signed @throws Refusal tenant_sealed
 */
export async function signCrl(tx: Tx, ctx: Ctx, issuerId: string): Promise<boolean> {
  await tx.$queryRaw`select 1 from pki_crls where id = ${issuerId}::uuid for no key update`;
  const crl = await tx.pki_crls.findFirst({ where: { ...own(ctx), id: issuerId }, omit: { der: true } });
  if (!crl) return false;
  const isRoot = crl.id === crl.ca_root_id;
  const issuer = isRoot ? await rootOf(tx, ctx, issuerId) : await intermediateOf(tx, ctx, issuerId);
  if (!issuer) {
    await tx.pki_crls.update({ where: { id: issuerId, ...own(ctx) }, data: { stale_since: null }, select: { id: true } });
    return false;
  }
  const this_update = new Date(ctx.now.getTime() - BACKDATING_MS);
  const next_update = new Date(ctx.now.getTime() + LASTS[isRoot ? 'root' : 'intermediate']);
  // An entry of a certificate that has ended stands on one more list (RFC 5280 §3.3).
  const entries = await (isRoot ? revokedIntermediates : revokedLeaves)(tx, ctx, issuerId, crl.this_update ?? this_update);
  const der = certificateRevocationList({
    issuer: await openAuthority(ctx, issuer),
    number: crl.number + 1,
    thisUpdate: this_update,
    nextUpdate: next_update,
    entries,
  });
  await tx.pki_crls.update({
    where: { id: issuerId, ...own(ctx) },
    data: { number: crl.number + 1, der: new Uint8Array(der), this_update, next_update, entries: entries.length, stale_since: null },
    select: { id: true },
  });
  return true;
}

/**
 * Has a list signed soon after the transaction: within seconds of its commit. Revoking needs no key, so it works while the workspace is sealed; the list
 * follows when it opens.
 */
export async function markStale(tx: Tx, ctx: Ctx, issuerId: string): Promise<void> {
  await tx.pki_crls.updateMany({ where: { ...own(ctx), id: issuerId, stale_since: null }, data: { stale_since: ctx.now } });
  const payload = JSON.stringify({ tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, issuer_id: issuerId });
  // Before the first worker of a deployment has started there is no queue; the worker looks for what was left as it starts.
  await tx.$queryRaw`select case when to_regnamespace('graphile_worker') is null then ''
    else enqueue_job('sign_crl', ${payload}::jsonb, null, ${`sign_crl:${issuerId}`}, null)::text end`;
}

const rootOf = (tx: Tx, ctx: Ctx, id: string) =>
  tx.pki_roots.findFirst({ where: { ...own(ctx), id, not_after: { gt: ctx.now } } }) as Promise<RootRow | null>;

const intermediateOf = (tx: Tx, ctx: Ctx, id: string) =>
  tx.pki_intermediates.findFirst({ where: { ...own(ctx), id, status: { in: ['active', 'retired'] } } }) as Promise<IntermediateRow | null>;

async function revokedLeaves(tx: Tx, ctx: Ctx, intermediate_id: string, since: Date): Promise<RevokedEntry[]> {
  const rows = await tx.$queryRaw<{ serial_hex: string; revoked_at: Date; revocation_reason: string }[]>`
    select serial_hex, revoked_at, revocation_reason from pki_certificates
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and intermediate_id = ${intermediate_id}::uuid
      and revoked_at is not null and not_after > ${since} and revoked_at < not_after
    order by revoked_at desc limit ${MOST_ENTRIES + 1}`; // one too many makes signing fail: a list that leaves certificates out would call them good
  return rows.map(entryOf);
}

async function revokedIntermediates(tx: Tx, ctx: Ctx, ca_root_id: string, since: Date): Promise<RevokedEntry[]> {
  const rows = await tx.pki_intermediates.findMany({
    where: { ...own(ctx), ca_root_id, status: 'revoked', not_after: { gt: since } },
    orderBy: { n: 'asc' },
    select: { serial_hex: true, revoked_at: true, revocation_reason: true },
  });
  return rows.map(entryOf);
}

const entryOf = (row: { serial_hex: string; revoked_at: Date | null; revocation_reason: string | null }): RevokedEntry => ({
  serial: row.serial_hex,
  revokedAt: row.revoked_at as Date,
  reason: row.revocation_reason as Reason,
});
