import { intermediateCertificate, newKeyPair, newSerial } from '#server/crypto/pki/authority.ts';
import { subjectText } from '#server/crypto/pki/subject.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { openAuthority, sealKey } from './ca-keys.ts';
import { BACKDATING_MS, insertCrl, markStale, signCrl } from './crls.ts';
import { activeIntermediate, ERASED, type IntermediateRow, lockedRoot, type RootRow, signingIntermediates } from './store.ts';
import { urlsUnderRoot } from './urls.ts';

/** An intermediate that ends sooner can't sign anything worth having. */
export const SHORTEST_MS = 60_000;

/** Replaces the active intermediate at once. @throws Refusal not_found, root_not_active, tenant_sealed */
export const rotateIntermediate = (ctx: Ctx, { name }: { name: string }) =>
  mutate(ctx, async (tx) => {
    const root = await lockedRoot(tx, ctx, name);
    const { made, entry } = await rotate(tx, ctx, root, 'call');
    return audited({ intermediate_id: made.id, not_after: made.not_after }, entry);
  });

/** The same for a root that is locked already. The caller writes `entry`. @throws Refusal root_not_active, tenant_sealed */
export async function rotate(
  tx: Tx,
  ctx: Ctx,
  root: RootRow,
  trigger: 'call' | 'schedule' | 'revocation',
): Promise<{ made: IntermediateRow; entry: AuditEntry }> {
  if (root.status !== 'active') throw notActive(root);
  const old = await activeIntermediate(tx, ctx, root.id);
  if (old) await tx.pki_intermediates.update({ where: { id: old.id, ...own(ctx) }, data: { status: 'retired' }, select: { id: true } });
  const made = await addIntermediate(tx, ctx, root);
  if (old) await markStale(tx, ctx, old.id);
  return {
    made,
    entry: {
      action: 'rotate',
      resource_type: 'pki_root',
      resource_id: root.id,
      name: root.name,
      details: { intermediate_id: made.id, old: old?.id ?? null, new: made.id, trigger },
    },
  };
}

/** A new active intermediate with its first list; there must be no other active one. @throws Refusal root_not_active, tenant_sealed */
export async function addIntermediate(tx: Tx, ctx: Ctx, root: RootRow): Promise<IntermediateRow> {
  const ends = Math.min(ctx.now.getTime() + root.intermediate_ttl_seconds * 1_000, root.not_after.getTime());
  if (ends - ctx.now.getTime() < SHORTEST_MS) throw new Refusal('root_not_active', `The root ${root.name} has ended. Create another one.`);
  const issuer = await openAuthority(ctx, root);
  const id = newId();
  const n = root.intermediates_made + 1;
  const key = newKeyPair();
  const suffix = ` Intermediate ${n}`;
  const subject = {
    ...root.subject_fields,
    common_name: `${shortened(root.subject_fields.common_name ?? root.name, 64 - suffix.length)}${suffix}`,
  };
  const term = { serial: newSerial(), notBefore: wholeSecond(ctx.now.getTime() - BACKDATING_MS), notAfter: wholeSecond(ends) };
  const certificate = intermediateCertificate({ issuer, publicKey: key.publicKey, subject, urls: urlsUnderRoot(root), ...term });
  const made = (await tx.pki_intermediates.create({
    data: {
      ...own(ctx),
      ...(await sealKey(ctx, id, key.privateKey)),
      id,
      n,
      ca_root_id: root.id,
      serial_hex: term.serial,
      subject: subjectText(subject),
      certificate: new Uint8Array(certificate),
      not_before: term.notBefore,
      not_after: term.notAfter,
      created_at: ctx.now,
    },
  })) as IntermediateRow;
  await tx.pki_roots.update({
    where: { id: root.id, ...own(ctx) },
    data: { intermediates_made: n, updated_at: ctx.now },
    select: { id: true },
  });
  await insertCrl(tx, ctx, id, root.id);
  await signCrl(tx, ctx, id);
  return made;
}

/**
 * Revokes an intermediate, and with it every leaf below it. A root that issues gets another one at once; one that is retired or revoked doesn't.
 * @throws Refusal not_found, tenant_sealed
 */
export const revokeIntermediate = (ctx: Ctx, { name, id, reason }: { name: string; id: string; reason: string }) =>
  mutate(ctx, async (tx) => {
    const root = await lockedRoot(tx, ctx, name);
    const row = isUuid(id)
      ? ((await tx.pki_intermediates.findFirst({
          where: { ...own(ctx), ca_root_id: root.id, id: id.toLowerCase() },
        })) as IntermediateRow | null)
      : null;
    if (!row) throw notFound();
    if (row.status === 'revoked')
      return unchanged({ revoked: true as const, intermediate_id: (await activeIntermediate(tx, ctx, root.id))?.id ?? null });
    const entry = await revoke(tx, ctx, root, row, reason);
    const replacing = row.status === 'active' && root.status === 'active' ? await rotate(tx, ctx, root, 'revocation') : null;
    const active = replacing?.made ?? (await activeIntermediate(tx, ctx, root.id));
    return audited({ revoked: true as const, intermediate_id: active?.id ?? null }, entry, replacing ? [replacing.entry] : []);
  });

/** Every intermediate that still signs: what a revoked root leaves behind. */
export async function revokeAll(tx: Tx, ctx: Ctx, root: RootRow, reason: string): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (const row of await signingIntermediates(tx, ctx, root.id)) entries.push(await revoke(tx, ctx, root, row, reason));
  return entries;
}

async function revoke(tx: Tx, ctx: Ctx, root: RootRow, row: IntermediateRow, reason: string): Promise<AuditEntry> {
  await tx.pki_intermediates.update({
    where: { id: row.id, ...own(ctx) },
    data: { ...ERASED, status: 'revoked', revoked_at: ctx.now, revocation_reason: reason },
    select: { id: true },
  });
  await tx.pki_responders.deleteMany({ where: { ...own(ctx), intermediate_id: row.id } });
  await markStale(tx, ctx, root.id);
  return {
    action: 'revoke',
    resource_type: 'pki_root',
    resource_id: root.id,
    name: root.name,
    details: { intermediate_id: row.id, serial: row.serial_hex, reason },
  };
}

export const notActive = ({ name, status }: Pick<RootRow, 'name' | 'status'>): Refusal =>
  new Refusal('root_not_active', `The root ${name} is ${status} and issues no certificates.`);

/** X.509 knows no fractions of a second. */
export const wholeSecond = (ms: number): Date => new Date(Math.floor(ms / 1_000) * 1_000);

const shortened = (text: string, most: number): string => [...text].slice(0, most).join('').trimEnd();
