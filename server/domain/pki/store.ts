import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { INTERMEDIATE_STATES, ROOT_STATES } from './schema.ts';
import type { SubjectFields } from './subject.schema.ts';

export type RootRow = Omit<Prisma.pki_rootsGetPayload<object>, 'status' | 'subject_fields'> & {
  status: (typeof ROOT_STATES)[number];
  subject_fields: SubjectFields;
};
export type IntermediateRow = Omit<Prisma.pki_intermediatesGetPayload<object>, 'status'> & {
  status: (typeof INTERMEDIATE_STATES)[number];
};
export type RoleRow = Prisma.pki_rolesGetPayload<object>;
export type CertificateRow = Prisma.pki_certificatesGetPayload<object>;

/**
 * By ID or by name: no name looks like an ID. A policy that is narrowed to roots compares the same two spellings.
 * @throws Refusal not_found
 */
export async function rootByRef(tx: Tx, ctx: Ctx, ref: string): Promise<RootRow> {
  const row = await tx.pki_roots.findFirst({ where: { ...own(ctx), ...byIdOrName(ref) } });
  if (!row) throw notFound();
  return row as RootRow;
}

/** As by reference, holding the row until the transaction ends: everything that moves intermediates of one root runs one after the other. */
export async function lockedRoot(tx: Tx, ctx: Ctx, ref: string): Promise<RootRow> {
  const { id } = await rootByRef(tx, ctx, ref);
  await tx.$queryRaw`select 1 from pki_roots where id = ${id}::uuid for no key update`;
  return rootByRef(tx, ctx, id);
}

/** @throws Refusal not_found */
export async function roleByRef(tx: Tx, ctx: Ctx, rootId: string, ref: string): Promise<RoleRow> {
  const row = await tx.pki_roles.findFirst({ where: { ...own(ctx), ca_root_id: rootId, ...byIdOrName(ref) } });
  if (!row) throw notFound();
  return row;
}

export const activeIntermediate = (tx: Tx, ctx: Ctx, rootId: string): Promise<IntermediateRow | null> =>
  tx.pki_intermediates.findFirst({ where: { ...own(ctx), ca_root_id: rootId, status: 'active' } }) as Promise<IntermediateRow | null>;

/** Those that still sign, newest first. */
export const signingIntermediates = (tx: Tx, ctx: Ctx, rootId: string): Promise<IntermediateRow[]> =>
  tx.pki_intermediates.findMany({
    where: { ...own(ctx), ca_root_id: rootId, status: { in: ['active', 'retired'] }, not_after: { gt: ctx.now } },
    orderBy: { n: 'desc' },
  }) as Promise<IntermediateRow[]>;

const byIdOrName = (ref: string) => (isUuid(ref) ? { id: ref.toLowerCase() } : { name: ref });

/** What an intermediate keeps once nothing is signed with it any more. */
export const ERASED = { value_ct: null, cek_wrapped: null, tmk_version: null } as const;

/** Overwrites all private keys of the space, or of one root, before the rows go, so that no page of the table keeps them live. */
export async function eraseKeys(tx: Tx, ctx: Ctx, rootId?: string): Promise<void> {
  const nothing = new Uint8Array(0);
  await tx.pki_responders.updateMany({
    where: { ...own(ctx), ...(rootId ? { intermediate: { ca_root_id: rootId } } : {}) },
    data: { value_ct: nothing, cek_wrapped: nothing },
  });
  await tx.pki_intermediates.updateMany({
    where: { ...own(ctx), ...(rootId ? { ca_root_id: rootId } : {}), status: { in: ['active', 'retired'] } },
    data: { ...ERASED, status: 'expired' },
  });
  await tx.pki_roots.updateMany({
    where: { ...own(ctx), ...(rootId ? { id: rootId } : {}) },
    data: { value_ct: nothing, cek_wrapped: nothing },
  });
}
