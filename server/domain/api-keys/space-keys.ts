import { type Capability, capabilitiesOfKey, KEY_ROLES, scopeCapabilities } from '#server/kernel/capabilities.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { SCOPE_NAMES } from '#server/kernel/scopes.ts';

const MOST = 50;

/** The keys of the space that are taken today, by name, at most fifty, with whether each may call routes and change them; and how many there are. */
export async function listSpaceKeys(tx: Tx, ctx: Ctx) {
  const active = {
    ...own(ctx),
    active: true,
    AND: [{ OR: [{ expires_at: null }, { expires_at: { gt: ctx.now } }] }, { OR: [{ revoke_at: null }, { revoke_at: { gt: ctx.now } }] }],
  };
  const rows = await tx.api_keys.findMany({
    where: active,
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: MOST,
    select: { id: true, name: true, key_prefix: true, role_ids: true, scoped: true, scopes: true, ip_allowlist: true },
  });
  return {
    keys: rows.map(({ id, name, key_prefix, ip_allowlist, ...grants }) => {
      const held = capabilitiesOfKey(grants);
      return { id, name, key_prefix, addresses: ip_allowlist, calls: held.has('proxy:invoke'), changes: held.has('route:update') };
    }),
    count: await tx.api_keys.count({ where: active }),
    calling: await tx.api_keys.count({ where: { ...active, ...holding('proxy:invoke') } }),
  };
}

/** `capabilitiesOfKey` as a condition on rows. */
const holding = (capability: Capability) => ({
  role_ids: { hasSome: KEY_ROLES.filter((role) => role.capabilities.has(capability)).map(({ id }) => id) },
  OR: [{ scoped: false }, { scopes: { hasSome: SCOPE_NAMES.filter((scope) => scopeCapabilities([scope]).has(capability)) } }],
});
