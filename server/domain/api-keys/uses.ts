import type { z } from 'zod';
import { actingFor } from '#server/domain/authorities/service.ts';
import { type Capability, capabilitiesOfKey, KEY_ROLES, keyCapabilities } from '#server/kernel/capabilities.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import type { ApiKeyUses } from './schema.ts';
import { keyByRef } from './store.ts';

/**
 * What a key may do beside what it did, what acts in its name, and the narrowest seeded roles that would still let it. Calls through routes come from the request log,
 * the rest from the stamps of the management API.
 */
export function apiKeyUses(ctx: Ctx, input: { id: string }): Promise<z.input<typeof ApiKeyUses>> {
  return read(ctx, async (tx) => {
    const key = await keyByRef(tx, ctx, input.id);
    const held = [...capabilitiesOfKey(key)];
    const rows = await tx.api_key_uses.findMany({
      where: { ...own(ctx), api_key_id: key.id, capability: { in: held } },
      select: { capability: true, last_used_at: true },
    });
    const calls = await tx.call_days.aggregate({
      where: { ...own(ctx), kind: 'api_key', ref_id: key.id, counted: { gt: 0 } },
      _max: { last_at: true },
    });
    const called = calls._max.last_at;
    const used = [
      ...rows.filter((row) => row.capability !== 'proxy:invoke'),
      ...(called && held.includes('proxy:invoke') ? [{ capability: 'proxy:invoke', last_used_at: called }] : []),
    ].sort((a, b) => a.capability.localeCompare(b.capability));
    const acting = await actingFor(tx, ctx, key);
    return { held: held.length, used, acting, narrower_role_ids: narrower(key.role_ids, new Set(used.map((use) => use.capability))) };
  });
}

/** Null when nothing was used, or when no choice of roles covers it with a part of what the key has now: it must not gain anything either. */
export function narrower(roleIds: readonly string[], used: ReadonlySet<string>): string[] | null {
  if (used.size === 0) return null;
  const held = keyCapabilities(roleIds);
  let choices: string[][] = [[]];
  for (const role of KEY_ROLES) choices = choices.flatMap((set) => [set, [...set, role.id]]);
  const [best] = choices
    .map((ids) => ({ ids, capabilities: keyCapabilities(ids) }))
    .filter(({ capabilities }) => capabilities.size < held.size && [...capabilities].every((capability) => held.has(capability)))
    .filter(({ capabilities }) => [...used].every((capability) => capabilities.has(capability as Capability)))
    .sort((a, b) => a.capabilities.size - b.capabilities.size || a.ids.length - b.ids.length);
  return best?.ids ?? null;
}
