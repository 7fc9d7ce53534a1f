import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { ALERT_CHANNEL } from './kinds.shared.ts';
import type { ListChannelDeliveries } from './schema.ts';
import { channelById } from './store.ts';

/** The messages of the last 14 days to a channel and how they stand, newest first. @throws Refusal not_found */
export const listDeliveries = (ctx: Ctx, { id, ...page }: z.output<typeof ListChannelDeliveries>) =>
  read(ctx, async (tx) => {
    const { id: destination_id } = await channelById(tx, ctx, id);
    const where = { ...own(ctx), channel: ALERT_CHANNEL, destination_id };
    const total = await tx.deliveries.count({ where });
    const rows = await pagedRows(
      page,
      total,
      [{ created_at: 'desc' }, { id: 'desc' }],
      (window) => tx.deliveries.findMany({ where, ...window, select: { id: true } }),
      (ids) => tx.deliveries.findMany({ where: { ...own(ctx), id: { in: ids } }, include: { event: { select: { source_id: true } } } }),
    );
    const shown = rows.map(({ event, event_id, ...row }) => ({
      ...row,
      message_id: event_id,
      incident_id: event.source_id,
      state: row.state as 'pending',
      next_attempt_at: row.state === 'pending' ? row.next_attempt_at : null,
    }));
    return pageOf(shown, total, page);
  });
