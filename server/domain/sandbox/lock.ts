import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { holdLock } from '#server/kernel/named-lock.ts';

/** What moves things between the spaces of a workspace, or empties one, runs one after the other: the second finds what the first one made. */
export const lockSandbox = (tx: Tx, ctx: Ctx) => holdLock(tx, `${ctx.tenant_id}:sandbox`);
