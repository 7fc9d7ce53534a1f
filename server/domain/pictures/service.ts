import { digest } from '#server/crypto/tokens.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import type { Fault } from '#server/platform/pictures/answer.ts';
import { squareOf } from '#server/platform/pictures/decoder.ts';
import { kindOf } from './kind.ts';

/** An upload that nobody uses goes after this time, or when its sender has sent so many more. */
const UNUSED_MS = 3_600_000;
const MOST_UNUSED = 5;

/**
 * Keeps a picture for its sender to use: 256 x 256 WebP, without metadata. What was sent is not kept. `tookLong` is told of one that was given up.
 * @throws Refusal unsupported_media_type, invalid, rate_limited, dependency_unavailable
 */
export async function keepPicture(
  ctx: SignedInCtx,
  bytes: Uint8Array,
  tookLong: () => Promise<unknown>,
): Promise<{ upload_id: string; expires_at: Date }> {
  const { name, taken } = kindOf(bytes);
  if (!taken) throw new Refusal('unsupported_media_type', `Upload a PNG, JPEG or WebP picture. This is ${name}.`);
  const answer = await squareOf(bytes, ctx.user.id);
  if ('fault' in answer) {
    if (answer.fault === 'slow') await tookLong();
    throw faulty(answer.fault);
  }
  const { webp } = answer;
  const row = { id: newId(), uploaded_by: ctx.user.id, etag: digest(webp).toString('base64url'), bytes: new Uint8Array(webp) };
  const { id } = await ctx.db.pictures.create({ data: { ...row, created_at: ctx.now }, select: { id: true } });
  await ctx.db.$executeRaw`
    delete from pictures where uploaded_by = ${ctx.user.id}::uuid and id not in (
      select id from pictures where uploaded_by = ${ctx.user.id}::uuid order by created_at desc, id desc limit ${MOST_UNUSED})`;
  return { upload_id: id, expires_at: new Date(ctx.now.getTime() + UNUSED_MS) };
}

const FAULTS: Record<Fault, string> = {
  format: 'Upload a PNG, JPEG or WebP picture. This file only starts like one.',
  animated: "Animated pictures aren't supported. Upload a still one.",
  too_large: 'The picture is too large. The limit is 25 million pixels, and 12,000 pixels per side.',
  too_small: 'The picture is too small. Each side must be at least 16 pixels, ideally 256.',
  damaged: 'The picture is damaged or incomplete. Open it in an image editor, save it again and upload that.',
  slow: 'The picture takes too long to process. Open it in an image editor, save it again and upload that.',
};
const faulty = (fault: Fault) => new Refusal(fault === 'format' ? 'unsupported_media_type' : 'invalid', FAULTS[fault]);

/**
 * Makes an upload of the person's the photo they show, or with null takes it down; the one before is gone. False: nothing to take down.
 * Runs in a system-side transaction. @throws Refusal validation_error: unknown, another's, used or expired, one answer for all
 */
export async function usePhoto(tx: Tx, { user, now }: SignedInCtx, upload: string | null): Promise<boolean> {
  const person = user.id;
  await tx.$queryRaw`select 1 from users where id = ${person}::uuid for no key update`;
  const { count } = await tx.pictures.deleteMany({ where: { user_id: person } });
  if (upload !== null) {
    const used = isUuid(upload)
      ? await tx.pictures.updateMany({
          where: { id: upload, uploaded_by: person, created_at: { gte: since(now) } },
          data: { user_id: person, uploaded_by: null },
        })
      : { count: 0 };
    if (used.count === 0) throw noSuchUpload('avatar_upload_id');
  }
  // Not `update`: the version of the profile that somebody edits meanwhile stays what it is.
  await tx.$executeRaw`update users set avatar = ${upload}::uuid where id = ${person}::uuid`;
  return upload !== null || count > 0;
}

/** The same for the logo of the workspace, inside its transaction: the upload is that of the member who acts. */
export async function useLogo(tx: Tx, ctx: Ctx, upload: string | null): Promise<boolean> {
  await tx.$queryRaw`select 1 from tenants where id = ${ctx.tenant_id}::uuid for no key update`;
  const { count } = await tx.pictures.deleteMany({ where: { tenant_id: ctx.tenant_id } });
  if (upload !== null) {
    const { actor } = ctx;
    const [used] =
      isUuid(upload) && actor.type === 'member'
        ? await tx.$queryRaw<
            { hung: boolean }[]
          >`select hang_logo(${upload}::uuid, ${actor.id}::uuid, ${since(ctx.now)}::timestamptz) as hung`
        : [];
    if (!used?.hung) throw noSuchUpload('logo_upload_id');
  }
  await tx.$executeRaw`update tenants set logo = ${upload}::uuid where id = ${ctx.tenant_id}::uuid`;
  return upload !== null || count > 0;
}

const noSuchUpload = (field: string) =>
  invalid(field, "this upload doesn't exist, was already used or has expired. Upload the picture again.");

/**
 * A picture for somebody who may see it: their own uploads, the photo of a person they share a workspace with, the logo of a workspace they are in.
 * A session bound to one workspace sees what that one shows. @throws Refusal not_found
 */
export async function pictureOf({ db, user, session }: SignedInCtx, id: string): Promise<{ etag: string; bytes: Uint8Array }> {
  if (!isUuid(id)) throw notFound();
  const [row] = await db.$queryRaw<{ etag: string; bytes: Uint8Array }[]>`
    select p.etag, p.bytes from pictures p where p.id = ${id}::uuid and (p.uploaded_by = ${user.id}::uuid or p.user_id = ${user.id}::uuid or exists (
      select from memberships mine join tenants t on t.id = mine.tenant_id
      where mine.user_id = ${user.id}::uuid and mine.removed_at is null and t.deleted_at is null
        and (${session.scope_tenant_id}::uuid is null or t.id = ${session.scope_tenant_id}::uuid)
        and (t.id = p.tenant_id or exists (
          select from memberships theirs where theirs.tenant_id = t.id and theirs.user_id = p.user_id and theirs.removed_at is null))))`;
  if (!row) throw notFound();
  return row;
}

/** Forgets the uploads that nobody used in time. */
export const dropUnused = (db: Db, now: Date) =>
  db.pictures.deleteMany({ where: { uploaded_by: { not: null }, created_at: { lt: since(now) } } });

/** Uploads from before are not used any more. */
const since = (now: Date) => new Date(now.getTime() - UNUSED_MS);
