import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { materialOf, mayNotUse } from './material.ts';
import { actionsOf, settingsOfAction, shown } from './service.ts';

/** Copies the field actions of a route. Those that the caller couldn't save are copied switched off, and named in a warning. */
export async function copyFieldActions(tx: Tx, ctx: Ctx, from: string, to: string): Promise<void> {
  const rows = (await actionsOf(tx, ctx, from)).map(shown);
  const off: string[] = [];
  for (const row of rows) {
    const denied = row.enabled && (await mayNotUse(ctx, row.action, await materialOf(tx, ctx, row)));
    if (denied) off.push(`${row.action} ${row.selectors.join(', ')}`);
    const data = { ...settingsOfAction(row), ...own(ctx), id: newId(), route_id: to, enabled: row.enabled && !denied };
    await tx.route_field_actions.create({ data: { ...data, created_at: ctx.now, updated_at: ctx.now } });
  }
  if (off.length > 0)
    ctx.warnings.push(
      `These field actions were copied switched off, because you lack the right to use their key or vault: ${off.join('; ')}.`,
    );
}

/** A route whose field action uses this key or vault: neither may be deleted while there is one. */
export async function routeUsing(
  tx: Tx,
  ctx: Ctx,
  used: { key: string } | { vault: string },
): Promise<{ id: string; name: string } | undefined> {
  const action = 'vault' in used ? ['tokenize', 'detokenize'] : ['encrypt', 'decrypt', 'sign'];
  const row = await tx.route_field_actions.findFirst({
    where: { ...own(ctx), key_name: 'vault' in used ? used.vault : used.key, action: { in: action } },
    select: { route: { select: { id: true, name: true } } },
  });
  return row?.route;
}
