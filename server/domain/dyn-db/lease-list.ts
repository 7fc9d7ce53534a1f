import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { shownLease } from './renewal.ts';
import type { ListLeases } from './schema.ts';
import type { LeaseRow } from './store.ts';

/** Every lease whose user may exist, newest first: exactly those that a blocked deletion counts. */
export const listLeases = (ctx: Ctx, { limit, offset, connection, role, status }: z.output<typeof ListLeases>) =>
  read(ctx, async (tx) => {
    const where = {
      ...own(ctx),
      ended_at: null,
      ...(connection === undefined ? {} : { connection_name: connection }),
      ...(role === undefined ? {} : { role_name: role }),
      ...(status === undefined ? {} : { status }),
    };
    const rows = await tx.dyn_db_leases.findMany({ where, orderBy: { number: 'desc' }, take: limit, skip: offset });
    const total = await tx.dyn_db_leases.count({ where });
    return { leases: (rows as unknown as LeaseRow[]).map(shownLease), total, limit, offset };
  });
