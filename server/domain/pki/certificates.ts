import type { z } from 'zod';
import { pemOf } from '#server/crypto/pki/pem.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import type { Condition } from '#server/platform/lists/sql.ts';
import { markStale } from './crls.ts';
import type { CERTIFICATE_STATES, ListCertificates, RevokeCertificate, SOURCES } from './schema.ts';
import { type CertificateRow, rootByRef } from './store.ts';

/** A page of the leaves of a root, those that were revoked and that expired included. @throws Refusal not_found */
export const listCertificates = (ctx: Ctx, { name, ...query }: z.output<typeof ListCertificates>) =>
  read(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, name);
    const { role, status, serial_hex, subject, expiring_before, ...page } = query;
    const filters: (Condition | undefined)[] = [
      { where: (bind) => `ca_root_id = ${bind(root.id, 'uuid')}` },
      role === undefined ? undefined : { where: (bind) => `role_name = ${bind(role, 'text')}` },
      serial_hex === undefined ? undefined : { where: (bind) => `serial_hex = ${bind(serialOf(serial_hex), 'text')}` },
      status && inState(status, ctx.now),
      expiring_before === undefined ? undefined : { where: (bind) => `not_after < ${bind(new Date(expiring_before), 'timestamptz')}` },
    ];
    const { ids, total } = await listIds(tx, ctx, { ...page, table: 'pki_certificates', filters, q: subject });
    const rows = await tx.pki_certificates.findMany({ where: { ...own(ctx), id: { in: ids } } });
    return pageOf(
      inOrder(ids, rows).map((row) => recordOf(row, ctx.now)),
      total,
      query,
    );
  });

/** @throws Refusal not_found */
export const getCertificate = (ctx: Ctx, { name, serial_hex }: { name: string; serial_hex: string }) =>
  read(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, name);
    const row = await bySerial(tx, ctx, root.id, serial_hex);
    return { ...recordOf(row, ctx.now), cert_pem: pemOf('CERTIFICATE', row.certificate) };
  });

/**
 * Revokes a leaf; its issuer's list says so within seconds. Once more changes nothing: the first day and reason stay.
 * @throws Refusal not_found
 */
export const revokeCertificate = (ctx: Ctx, { name, serial_hex, reason }: z.output<typeof RevokeCertificate>) =>
  mutate(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, name);
    const { id } = await bySerial(tx, ctx, root.id, serial_hex);
    const [row] = await tx.$queryRaw<
      { revoked_at: Date | null }[]
    >`select revoked_at from pki_certificates where id = ${id}::uuid for no key update`;
    if (row?.revoked_at) return unchanged({ revoked: true as const });
    const after = await tx.pki_certificates.update({
      where: { id, ...own(ctx) },
      data: { revoked_at: ctx.now, revocation_reason: reason },
    });
    if (after.not_after > ctx.now) await markStale(tx, ctx, after.intermediate_id);
    return audited(
      { revoked: true as const },
      {
        action: 'revoke',
        resource_type: 'pki_leaf',
        resource_id: id,
        name: after.subject,
        details: { root: root.name, serial: after.serial_hex, reason },
      },
    );
  });

/** By its serial number as people copy it: with colons, spaces, capitals or 0x. @throws Refusal not_found */
async function bySerial(tx: Tx, ctx: Ctx, ca_root_id: string, text: string): Promise<CertificateRow> {
  const row = await tx.pki_certificates.findFirst({ where: { ...own(ctx), ca_root_id, serial_hex: serialOf(text) } });
  if (!row) throw notFound();
  return row;
}

export const serialOf = (text: string): string => text.trim().toLowerCase().replace(/^0x/, '').replace(/[:\s]/g, '');

type State = (typeof CERTIFICATE_STATES)[number];

const inState = (state: State, now: Date): Condition => ({
  where: (bind) =>
    state === 'revoked'
      ? 'revoked_at is not null'
      : `revoked_at is null and not_after ${state === 'valid' ? '>' : '<='} ${bind(now, 'timestamptz')}`,
});

/** A leaf as it is listed: its state is that of this moment. */
export function recordOf(row: CertificateRow, now: Date) {
  const status: State = row.revoked_at ? 'revoked' : row.not_after > now ? 'valid' : 'expired';
  const source = row.source as (typeof SOURCES)[number];
  return { ...row, status, source, issued_by: row.issued_by as { type: string; id: string | null; label: string } };
}
