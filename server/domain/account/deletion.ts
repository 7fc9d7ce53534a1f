import type { z } from 'zod';
import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { assertAllowedAddress, auditCtx, scopeMismatch } from '#server/domain/people/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid, notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { audited, mutate, writeAudit } from '#server/kernel/mutate.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { env } from '#server/platform/env.ts';
import { log } from '#server/platform/log.ts';
import { addJob } from '#server/platform/queue.ts';
import { workspaceDeleted, workspaceRestored } from './letters.ts';
import type { DeleteWorkspace } from './schema.ts';
import { lockedAccount } from './workspace-row.ts';

/** How long an Owner can take a deletion back (interface rule 22 §11). */
export const GRACE_MS = 14 * 24 * 3_600_000;
export const eraseAt = (deleted: Date): Date => new Date(deleted.getTime() + GRACE_MS);

/**
 * Deletes the workspace for everybody at once: no plane serves it, no key works, nobody finds it. Its data stays for 14 days.
 * @throws Refusal validation_error for another slug
 */
export async function deleteWorkspace(ctx: Ctx, { confirm_slug }: z.output<typeof DeleteWorkspace>) {
  ctx.changed = ['live', 'test'];
  const { answer, mails } = await mutate(ctx, async (tx) => {
    const before = await lockedAccount(tx, ctx);
    if (before.deleted_at) throw notFound();
    if (confirm_slug !== before.slug) throw invalid('confirm_slug', 'must be the slug of this workspace');
    const erased_after = eraseAt(ctx.now);
    const letter = workspaceDeleted({
      workspace: before.name,
      by: ctx.actor.label,
      erased: erased_after,
      restoreUrl: `${env.PUBLIC_ADMIN_URL}/me/profile`,
    });
    const mails = await postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'workspace_deleted', letter, now: ctx.now });
    await tx.tenants.update({ where: { id: ctx.tenant_id }, data: { deleted_at: ctx.now, updated_at: ctx.now }, select: { id: true } });
    return audited(
      { answer: { deleted: true as const, erased_after }, mails },
      {
        action: 'delete',
        resource_type: 'tenant',
        resource_id: ctx.tenant_id,
        name: before.name,
        details: { erased_after: erased_after.toISOString() },
        workspace_level: true,
      },
    );
  });
  for (const id of mails) dispatch(ctx.db, id);
  await tellProvider(ctx.tenant_id, 'stop_renewal');
  return answer;
}

/** The deleted workspaces that the person owns and can still restore. */
export async function deletedWorkspaces(ctx: Pick<SignedInCtx, 'db' | 'user' | 'session' | 'now'>) {
  const rows = await ctx.db.memberships.findMany({
    where: {
      user_id: ctx.user.id,
      role: 'owner',
      removed_at: null,
      tenant: { deleted_at: { gt: new Date(ctx.now.getTime() - GRACE_MS) }, erased_at: null },
    },
    orderBy: { tenant: { deleted_at: 'desc' } },
    select: { tenant: { select: { id: true, slug: true, name: true, deleted_at: true } } },
  });
  return {
    workspaces: rows.flatMap(({ tenant: { deleted_at, ...tenant } }) =>
      deleted_at && inScope(ctx, tenant.id) ? [{ ...tenant, deleted_at, erased_after: eraseAt(deleted_at) }] : [],
    ),
  };
}

/** Takes a deletion back: everything works as before, keys included. @throws Refusal not_found, session_scope_mismatch, forbidden */
export async function restoreWorkspace(ctx: SignedInCtx, { id }: { id: string }) {
  if (!isUuid(id)) throw notFound();
  if (!inScope(ctx, id)) throw scopeMismatch();
  const { tenant, mails } = await ctx.db.$transaction(async (tx) => {
    // Against the erasure: whoever has the row first decides.
    await tx.$queryRaw`select 1 from tenants where id = ${id}::uuid for no key update`;
    const tenant = await tx.tenants.findFirst({
      where: {
        id,
        deleted_at: { gt: new Date(ctx.now.getTime() - GRACE_MS) },
        erased_at: null,
        memberships: { some: { user_id: ctx.user.id, role: 'owner', removed_at: null } },
      },
    });
    if (!tenant) throw notFound();
    assertAllowedAddress({ name: tenant.name, ip_allowlist: settingsOf(tenant.settings).dashboard_ip_allowlist }, ctx.ip);
    await tx.tenants.update({ where: { id }, data: { deleted_at: null, updated_at: ctx.now }, select: { id: true } });
    const doer = { id: ctx.user.id, email: ctx.user.email, session_id: ctx.session.id };
    await writeAudit(tx, auditCtx(ctx, doer, id), {
      action: 'update',
      resource_type: 'tenant',
      resource_id: id,
      name: tenant.name,
      details: { state: 'restored' },
      workspace_level: true,
    });
    const letter = workspaceRestored({ workspace: tenant.name, by: ctx.user.email, url: `${env.PUBLIC_ADMIN_URL}/${tenant.slug}` });
    return { tenant, mails: await postTeamMails(tx, { tenant_id: id, kind: 'workspace_deleted', letter, now: ctx.now }) };
  });
  ctx.changes.push(`${id}:live`, `${id}:test`);
  for (const mail of mails) dispatch(ctx.db, mail);
  await tellProvider(id, 'sync_billing');
  return { workspace: { id, slug: tenant.slug, name: tenant.name } };
}

const inScope = ({ session }: Pick<SignedInCtx, 'session'>, id: string) =>
  session.scope_tenant_id === null || session.scope_tenant_id === id;

/** A queue that can't be reached must not undo what was asked for: the erasure ends the subscription in any case. */
const tellProvider = (tenant_id: string, job: 'stop_renewal' | 'sync_billing') =>
  addJob(null, job, { tenant_id }, { job_key: `${job}:${tenant_id}` }).catch((error: unknown) =>
    log.warn({ err: error, tenant_id, job }, 'the payment provider is told later'),
  );
