import { randomUUID } from 'node:crypto';
import { randomBase62 } from '#server/crypto/random.ts';
import { mintApiKey, mintToken } from '#server/crypto/tokens.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import { createTenant } from '#server/domain/signup/tenant.ts';
import { KEY_ROLES, keyCapabilities, type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import type { Actor, Ctx, Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { expandScopes, SCOPE_NAMES } from '#server/kernel/scopes.ts';
import { stampUse } from '#server/platform/credential-usage.ts';
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
    // In whose name a verb mints something that must end with the key.
    const as = ctx(space, { ...keyActor(role), type: 'api_key', id: row.id, key_id: row.key_id, role_ids: row.role_ids });
    return { row, text: minted.token, as };
  };

  /** A stored OAuth client that may everything a client can. */
  const client = (space: Space = 'live', extra: Record<string, unknown> = {}) =>
    db().oauth_clients.create({
      data: {
        id: newId(),
        tenant_id: tenant.id,
        sandbox: space === 'test',
        client_id: `svc_client_${randomBase62(20)}`,
        name: 'An application',
        type: 'confidential',
        grant_types: ['client_credentials'],
        allowed_scopes: [...MACHINE_SCOPES],
        ...extra,
      },
    });

  /**
   * A stored access token, by default of a client of its own with all its scopes; `extra` overrides columns, as a forged row would. One of a person comes from
   * a login of `login_at`, by default now, which was confirmed at `step_up_at`.
   */
  const token = async (
    options: {
      space?: Space;
      scopes?: readonly string[];
      of?: { id: string; source_api_key_id?: string | null };
      person?: { id: string };
      login_at?: Date;
      step_up_at?: Date;
      extra?: Record<string, unknown>;
    } = {},
  ) => {
    const { space = 'live', scopes = MACHINE_SCOPES, person, login_at = new Date(), step_up_at = null } = options;
    const of = options.of ?? (await client(space));
    const minted = mintToken(`oauth_token_${space}`);
    const family_id = person ? newId() : null;
    if (person && family_id)
      await db().oauth_families.create({
        data: {
          id: family_id,
          tenant_id: tenant.id,
          sandbox: space === 'test',
          client_row_id: of.id,
          user_id: person.id,
          scopes: [...scopes],
          flow: 'code',
          step_up_at,
          created_at: login_at,
          expires_at: new Date(login_at.getTime() + 90 * 86_400_000),
        },
      });
    const row = await db().oauth_access.create({
      data: {
        id: newId(),
        tenant_id: tenant.id,
        sandbox: space === 'test',
        digest: new Uint8Array(minted.digest),
        kind: person ? 'user' : 'client',
        client_row_id: of.id,
        user_id: person?.id ?? null,
        family_id,
        step_up_at,
        scopes: [...scopes],
        ceiling: [...expandScopes(scopes)],
        source_api_key_id: of.source_api_key_id ?? null,
        expires_at: new Date(Date.now() + 3_600_000),
        ...options.extra,
      },
    });
    return { row, client: of, text: minted.token };
  };

  /**
   * The text of a credential that may call an operation of /v1 wherever a machine may. It was just used, so that no call with it changes what lists of
   * credentials show.
   */
  const credentialFor = async ({ oauth_only }: Pick<AnyOperation, 'oauth_only'>, space: Space = 'live') => {
    const { used, text } = oauth_only
      ? await token({ space }).then((t) => ({ ...t, used: t.client }))
      : await key(space).then((k) => ({ ...k, used: k.row }));
    await stampUse({ tenant_id: tenant.id, sandbox: space === 'test' }, [used.id], '127.0.0.1', new Date());
    return text;
  };

  const member = (role: MemberRole, space: Space = 'live') => ctx(space, memberActor(role));
  return { tenant, ctx, key, client, token, credentialFor, member, live: ctx('live'), test: ctx('test') };
}

/** Every scope that a token of the Management API can carry. */
export const MACHINE_SCOPES: readonly string[] = SCOPE_NAMES.filter((scope) => scope !== 'mcp:tools');

/** A token with every scope. */
export const tokenActor = (): Actor => ({
  type: 'oauth_token',
  id: randomUUID(),
  client_id: 'svc_client_testtesttesttesttest',
  token_id: randomUUID(),
  user_id: null,
  person: null,
  source_key: null,
  family_id: null,
  scopes: MACHINE_SCOPES,
  step_up_at: null,
  label: 'An application',
  capabilities: expandScopes(MACHINE_SCOPES),
});

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
  migration_reviewer: role === 'owner' || role === 'admin',
  session_id: randomUUID(),
  signed_in_at: new Date(),
  mfa_at: null,
  capabilities: memberCapabilities(role, { reveal_secrets: false }),
});
