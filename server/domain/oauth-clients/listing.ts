import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import type { ListOAuthClients } from './schema.ts';
import { detailOf, rowsOf } from './shape.ts';
import { clientByRef } from './store.ts';

/** Every client of the space, newest first: those of API keys and of service-cli too, and revoked ones. */
export function listClients(ctx: Ctx, { type, active }: z.output<typeof ListOAuthClients>) {
  return read(ctx, async (tx) => {
    const rows = await tx.oauth_clients.findMany({
      where: { ...own(ctx), ...(type === undefined ? {} : { type }) },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
    });
    const shown = await rowsOf(tx, ctx, rows);
    return active === undefined ? shown : shown.filter((row) => row.active === active);
  });
}

/** @throws Refusal not_found */
export const getClient = (ctx: Ctx, { id }: { id: string }) => read(ctx, async (tx) => detailOf(tx, ctx, await clientByRef(tx, ctx, id)));
