import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import type { ChangeSlug } from './schema.ts';
import { lockedAccount } from './workspace-row.ts';

/**
 * Moves the workspace to another slug, and with it every address that its callers use. The old one answers nobody: it is not redirected, and stays reserved
 * for this workspace for 90 days. @throws Refusal conflict for a slug that is taken or reserved, validation_error
 */
export function changeSlug(ctx: Ctx, { slug, confirm_slug }: z.output<typeof ChangeSlug>) {
  // Both spaces have addresses.
  ctx.changed = ['live', 'test'];
  return mutate(ctx, async (tx) => {
    const [{ current = '' } = {}] = await tx.$queryRaw<
      { current: string }[]
    >`select slug as current from tenants where id = ${ctx.tenant_id}::uuid`;
    if (confirm_slug !== current) throw invalid('confirm_slug', 'must be the current slug of this workspace');
    if (slug === current) return unchanged(await lockedAccount(tx, ctx));
    const [taken] = await tx.$queryRaw<
      { moved: boolean }[]
    >`select change_slug(${ctx.tenant_id}::uuid, ${current}, ${slug}, ${ctx.now}::timestamptz) as moved`;
    if (!taken?.moved) throw new Refusal('conflict', `The slug ${slug} is taken or reserved. Choose another one.`);
    const after = await lockedAccount(tx, ctx);
    return audited(after, {
      action: 'update',
      resource_type: 'tenant',
      resource_id: ctx.tenant_id,
      name: after.name,
      changes: [{ field: 'slug', from: current, to: slug }],
      workspace_level: true,
    });
  });
}
