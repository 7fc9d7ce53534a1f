import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { sql } from '#server/platform/sql.ts';
import { KEPT_DAYS } from './kinds.shared.ts';
import type { ListNotifications, MarkRead, Notification } from './schema.ts';

type Row = Prisma.notificationsGetPayload<object>;

// The inbox belongs to the person, in both spaces of the workspace: nothing here depends on the space of the page they are on.

/** The person's notifications, newest first. @throws Refusal role_denied */
export function listNotifications(ctx: Ctx, { page, per_page, kind, unread }: z.output<typeof ListNotifications>) {
  const where = {
    ...mine(ctx),
    ...(kind ? { kind } : {}),
    ...(unread ? { read_at: null } : unread === false ? { read_at: { not: null } } : {}),
  };
  return read(ctx, async (tx) => {
    const total = await tx.notifications.count({ where });
    const rows = await pagedRows(
      { page, per_page },
      total,
      [{ created_at: 'desc' }, { id: 'desc' }],
      (window) => tx.notifications.findMany({ where, ...window, select: { id: true } }),
      (ids) => tx.notifications.findMany({ where: { ...mine(ctx), id: { in: ids } } }),
    );
    return pageOf(rows.map(shown), total, { page, per_page });
  });
}

/** How many the person has not read, and the ID of the newest of all. @throws Refusal role_denied */
export function countUnread(ctx: Ctx) {
  const where = mine(ctx);
  return read(ctx, async (tx) => ({
    unread: await tx.notifications.count({ where: { ...where, read_at: null } }),
    newest:
      (await tx.notifications.findFirst({ where, orderBy: [{ created_at: 'desc' }, { id: 'desc' }], select: { id: true } }))?.id ?? null,
  }));
}

/** Marks some as read, or all up to a moment. What was read here is not mailed with a later digest. @throws Refusal role_denied */
export function markRead(ctx: Ctx, { ids, until }: z.output<typeof MarkRead>) {
  const where = { ...mine(ctx), read_at: null, ...(ids ? { id: { in: ids } } : { created_at: { lte: new Date(until ?? ctx.now) } }) };
  return mutate(ctx, async (tx: Tx) => {
    await tx.notifications.updateMany({ where: { ...where, mail_at: { gt: ctx.now } }, data: { mail_at: null } });
    const { count } = await tx.notifications.updateMany({ where, data: { read_at: ctx.now } });
    return unchanged({ read: count });
  });
}

type View = z.input<typeof Notification>;

/** Kind, severity and space are checked by the table. */
const shown = ({ group_key, ...row }: Row): View => ({
  ...row,
  ...{ kind: row.kind as View['kind'], severity: row.severity as View['severity'], space: row.space as View['space'], group: group_key },
});

/** @throws Refusal role_denied for anybody but a person */
export function personIn(ctx: Ctx) {
  if (ctx.actor.type !== 'member') throw new Refusal('role_denied', 'Only signed-in people have notifications.');
  return ctx.actor;
}

const mine = (ctx: Ctx) => ({ tenant_id: ctx.tenant_id, user_id: personIn(ctx).id });

const BATCH = 5_000;

/** Deletes notifications of more than 90 days. @returns rows deleted */
export async function pruneNotifications(now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEPT_DAYS * 86_400_000);
  for (let deleted = 0; ; ) {
    const { rowCount } = await sql().query(
      `delete from notifications where id in (select id from notifications where created_at < $1 order by created_at limit ${BATCH} for update skip locked)`,
      [before],
    );
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return deleted;
  }
}

/** A person who leaves takes their inbox and their choices along. Runs in both spaces; the second finds nothing. */
export async function endInbox(tx: Tx, ctx: Ctx, userId: string): Promise<Record<string, number>> {
  const where = { tenant_id: ctx.tenant_id, user_id: userId };
  await tx.notification_settings.deleteMany({ where });
  const { count } = await tx.notifications.updateMany({ where: { ...where, mail_at: { not: null } }, data: { mail_at: null } });
  return { pending_notifications: count };
}
