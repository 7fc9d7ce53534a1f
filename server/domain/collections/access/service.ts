import type { z } from 'zod';
import { listSpaceKeys } from '#server/domain/api-keys/service.ts';
import { membersByRole } from '#server/domain/people/service.ts';
import { entrancesOf } from '#server/domain/routes/membership/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { MEMBER_ROLES, memberCapabilities } from '#server/kernel/capabilities.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { collectionById } from '../service.ts';
import type { CollectionAccess } from './schema.ts';

/**
 * Who can reach what in the collection: people by what their role may do, keys by their roles and scopes, callers by the rules of each route and
 * environment (interface rules 12 §5.4, 24 §2, 70 §9). Nothing is tied to a collection itself; it holds what the rules of its members let through.
 */
export function collectionAccess(ctx: Ctx, input: { id: string }): Promise<z.input<typeof CollectionAccess>> {
  return read(ctx, async (tx) => {
    const collection = await collectionById(tx, ctx, input.id);
    const tenant = await tx.tenants.findFirstOrThrow({ where: { id: ctx.tenant_id }, select: { settings: true } });
    const members = await membersByRole(tx, ctx);
    const people = MEMBER_ROLES.flatMap((role) => {
      const held = members.get(role);
      const may = memberCapabilities(role, { reveal_secrets: false });
      return held
        ? {
            role,
            ...held,
            sees: may.has('collection:read') ? ('all' as const) : ('names' as const),
            changes: may.has('collection:update') && may.has('route:update'),
            tests: may.has('route:test'),
            sets_values: may.has('secret:update'),
          }
        : [];
    });
    const { keys, count, calling } = await listSpaceKeys(tx, ctx);
    return {
      people,
      keys,
      key_count: count,
      key_count_calling: calling,
      key_always_needed: settingsOf(tenant.settings).proxy_require_credential,
      routes: await entrancesOf(tx, ctx, collection.id),
      route_count: await tx.routes.count({ where: { ...own(ctx), collection_id: collection.id } }),
    };
  });
}
