import type { z } from 'zod';
import { newKeyPair, newSerial, rootCertificate } from '#server/crypto/pki/authority.ts';
import { pemOf } from '#server/crypto/pki/pem.ts';
import { subjectText } from '#server/crypto/pki/subject.ts';
import { digest } from '#server/crypto/tokens.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { sealKey } from './ca-keys.ts';
import { BACKDATING_MS, insertCrl, signCrl } from './crls.ts';
import { addIntermediate, revokeAll, wholeSecond } from './intermediates.ts';
import type { CreateRoot, UpdateRoot } from './schema.ts';
import { activeIntermediate, eraseKeys, lockedRoot, type RootRow, rootByRef } from './store.ts';
import { longNames, type SubjectFields } from './subject.schema.ts';
import { publicUrl } from './urls.ts';

/** The organization that every certificate of Test names (interface rule 64 §4). */
export const TEST_ORGANIZATION = 'Test - not for production';

/** Every root of this space by name, with its active intermediate. */
export const listRoots = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = (await tx.pki_roots.findMany({ where: own(ctx), orderBy: { name: 'asc' } })) as RootRow[];
    const active = await tx.pki_intermediates.findMany({
      where: { ...own(ctx), ca_root_id: { in: rows.map(({ id }) => id) }, status: 'active' },
      select: { ca_root_id: true, id: true, not_before: true, not_after: true, serial_hex: true },
    });
    const of = new Map(active.map(({ ca_root_id, ...rest }) => [ca_root_id, rest]));
    return rows.map((row) => shownRoot(row, of.get(row.id) ?? null));
  });

/** @throws Refusal not_found */
export const getRoot = (ctx: Ctx, { name }: { name: string }) => read(ctx, async (tx) => detailOf(tx, ctx, await rootByRef(tx, ctx, name)));

/** A root with its first intermediate and the first lists of both. @throws Refusal plan_limit, conflict when the name is taken, tenant_sealed */
export function createRoot(ctx: Ctx, input: z.output<typeof CreateRoot>) {
  const { name, ttl_seconds, intermediate_ttl_seconds, publish } = input;
  const subject_fields: SubjectFields = {
    ...longNames<string>(input.subject),
    ...(ctx.sandbox ? { organization: TEST_ORGANIZATION } : {}),
  };
  return mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'pki_roots');
    const { slug } = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } });
    const id = newId();
    const key = newKeyPair();
    const term = {
      serial: newSerial(),
      notBefore: wholeSecond(ctx.now.getTime() - BACKDATING_MS),
      notAfter: wholeSecond(ctx.now.getTime() + ttl_seconds * 1_000),
    };
    const certificate = rootCertificate({ key, subject: subject_fields, ...term });
    const root = (await tx.pki_roots
      .create({
        data: {
          ...own(ctx),
          ...(await sealKey(ctx, id, key.privateKey)),
          id,
          name,
          subject: subjectText(subject_fields),
          subject_fields,
          serial_hex: term.serial,
          certificate: new Uint8Array(certificate),
          not_before: term.notBefore,
          not_after: term.notAfter,
          intermediate_ttl_seconds,
          publish,
          public_slug: slug,
          created_by: ctx.actor.type === 'member' ? ctx.actor.id : null,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('A root with this name already exists.'))) as RootRow;
    await insertCrl(tx, ctx, id, id);
    await signCrl(tx, ctx, id);
    const first = await addIntermediate(tx, ctx, root);
    return audited(
      { root: shownRoot(root, first), intermediate_not_after: first.not_after },
      {
        action: 'create',
        resource_type: 'pki_root',
        resource_id: id,
        name,
        details: { subject: root.subject, serial: term.serial, not_after: root.not_after, intermediate_id: first.id, publish },
      },
    );
  });
}

/**
 * Lifetime of intermediates from the next one on, publishing, and the state: a retired root issues nothing until it is active again, a revoked one never.
 * @throws Refusal not_found, root_not_active for a change of a revoked root's state, tenant_sealed
 */
export function updateRoot(ctx: Ctx, { name, ...input }: z.output<typeof UpdateRoot>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedRoot(tx, ctx, name);
    const { status = before.status, intermediate_ttl_seconds, publish } = input;
    if (before.status === 'revoked' && status !== 'revoked')
      throw new Refusal('root_not_active', `The root ${before.name} is revoked for good. Create another one.`);
    const after = (await tx.pki_roots.update({
      where: { id: before.id, ...own(ctx) },
      data: {
        status,
        ...(intermediate_ttl_seconds === undefined ? {} : { intermediate_ttl_seconds }),
        ...(publish === undefined ? {} : { publish }),
        updated_at: ctx.now,
      },
    })) as RootRow;
    const revoked = status === 'revoked' && before.status !== 'revoked' ? await revokeAll(tx, ctx, after, 'cessation_of_operation') : [];
    return audited(
      await detailOf(tx, ctx, after),
      {
        action: 'update',
        resource_type: 'pki_root',
        resource_id: after.id,
        name: after.name,
        changes: changesOf(before, after, Object.keys(input)),
      },
      revoked,
    );
  });
}

/** Deletes a root with all that is below it, and erases its keys. @throws Refusal not_found, in_use while a leaf of it has not expired */
export const deleteRoot = (ctx: Ctx, { name }: { name: string }) =>
  mutate(ctx, async (tx) => {
    const root = await lockedRoot(tx, ctx, name);
    const there = await tx.pki_certificates.count({ where: { ...own(ctx), ca_root_id: root.id, not_after: { gt: ctx.now } } });
    if (there > 0)
      throw new Refusal(
        'in_use',
        `${there} ${there === 1 ? 'certificate' : 'certificates'} of ${root.name} ${there === 1 ? 'has' : 'have'} not expired, and whoever relies on one may ask whether it is revoked. Set the status to retired instead.`,
      );
    await eraseKeys(tx, ctx, root.id);
    await tx.pki_roots.delete({ where: { id: root.id, ...own(ctx) }, select: { id: true } });
    return audited({ deleted: true as const }, { action: 'delete', resource_type: 'pki_root', resource_id: root.id, name: root.name });
  });

/** The certificate of a root, PEM. @throws Refusal not_found */
export const rootPem = (ctx: Ctx, { name }: { name: string }): Promise<string> =>
  read(ctx, async (tx) => pemOf('CERTIFICATE', (await rootByRef(tx, ctx, name)).certificate));

/** The active intermediate and the root, PEM; the root alone while there is no active one. @throws Refusal not_found */
export const chainPem = (ctx: Ctx, { name }: { name: string }): Promise<string> =>
  read(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, name);
    const active = await activeIntermediate(tx, ctx, root.id);
    return [active, root].map((row) => (row ? pemOf('CERTIFICATE', row.certificate) : '')).join('');
  });

export const detailOf = async (tx: Tx, ctx: Ctx, root: RootRow) => shownRoot(root, await activeIntermediate(tx, ctx, root.id));

type Active = { id: string; not_before: Date; not_after: Date; serial_hex: string };

const shownRoot = (row: RootRow, intermediate: Active | null) => ({
  ...row,
  cert_pem: pemOf('CERTIFICATE', row.certificate),
  fingerprint_sha256: fingerprint(row.certificate),
  intermediate,
  public_url: row.publish ? publicUrl(row) : null,
});

export const fingerprint = (der: Uint8Array): string => digest(der).toString('hex');
