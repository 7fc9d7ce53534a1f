import { randomUUID } from 'node:crypto';
import { mintApiKey } from '#server/crypto/tokens.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import { createTenant } from '#server/domain/signup/tenant.ts';
import { KEY_ROLES, keyCapabilities, type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import type { Actor, Ctx, Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';

export type Workspace = Awaited<ReturnType<typeof workspace>>;

/** A workspace of its own per test: contexts of both spaces acting as an Infrastructure key, members of any role, and real API keys. */
export async function workspace(options: { plan?: PlanName; status?: string; name?: string } = {}) {
  const name = options.name ?? `w-${randomUUID().slice(0, 8)}`;
  const now = new Date();
  const tenant = await db().$transaction((tx) =>
    createTenant(
      tx,
      { name, slug: name, region: 'us', plan: options.plan ?? 'enterprise', ...(options.status ? { status: options.status } : {}) },
      now,
    ),
  );

  const ctx = (space: Space, actor: Actor = keyActor('Key - Infrastructure')): Ctx => ({
    db: db(),
    tenant_id: tenant.id,
    sandbox: space === 'test',
    actor,
    plan: tenant.subscription_plan as PlanName,
    request_id: randomUUID(),
    ip: '127.0.0.1',
    user_agent: 'test',
    now: new Date(),
    warnings: [],
  });

  /** A stored API key of a seeded role; the text is what a caller presents. */
  const key = async (space: Space = 'live', role = 'Key - Infrastructure', extra: Record<string, unknown> = {}) => {
    const minted = mintApiKey(space);
    const row = await db().api_keys.create({
      data: {
        id: newId(),
        tenant_id: tenant.id,
        sandbox: space === 'test',
        key_id: minted.key_id,
        key_prefix: minted.key_prefix,
        digest: new Uint8Array(minted.digest),
        key_type: space === 'test' ? 'test' : 'standard',
        name: role,
        role_ids: KEY_ROLES.filter((r) => r.name === role).map((r) => r.id),
        ...extra,
      },
    });
    return { row, text: minted.token };
  };

  const member = (role: MemberRole, space: Space = 'live') => ctx(space, memberActor(role));
  return { tenant, ctx, key, member, live: ctx('live'), test: ctx('test') };
}

export function keyActor(role: string): Actor {
  const roleIds = KEY_ROLES.filter((r) => r.name === role).map((r) => r.id);
  return {
    type: 'api_key',
    id: randomUUID(),
    key_id: 'tk_live_testtesttest',
    label: role,
    role_ids: roleIds,
    capabilities: keyCapabilities(roleIds),
  };
}

export const memberActor = (role: MemberRole): Actor => ({
  type: 'member',
  id: randomUUID(),
  label: `${role}@example.com`,
  role,
  reveal_secrets: false,
  session_id: randomUUID(),
  signed_in_at: new Date(),
  mfa_at: null,
  capabilities: memberCapabilities(role, { reveal_secrets: false }),
});
