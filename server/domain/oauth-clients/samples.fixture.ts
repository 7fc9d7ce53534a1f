import { mintToken } from '#server/crypto/tokens.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { asPerson } from '#server/testing/step-up.ts';
import { memberActor, tokenActor } from '#server/testing/workspace.ts';

const client: Sample = async () => ({ name: fresh('client'), allowed_scopes: ['routes:read'] });

/** Made by a machine, which is never asked to confirm. */
export const clientId: Sample = async (ctx) => ({
  id: (await made({ ...ctx, actor: tokenActor() }, 'oauth_clients.create', await client(ctx))).id,
});

/** A grant of a person of the workspace, as a consent and its first refresh leave it. */
export async function grantOf(ctx: Ctx, client_row_id: string, scopes = ['routes:read']) {
  const person = { ...ctx, actor: memberActor('editor') };
  const { user_id } = await asPerson(person);
  const at = ctx.now;
  const [soon, later] = [new Date(at.getTime() + 3_600_000), new Date(at.getTime() + 90 * 86_400_000)];
  const own = { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox };
  await db().memberships.create({
    data: { id: newId(), tenant_id: ctx.tenant_id, user_id, role: 'editor', source: 'invite', joined_at: at },
  });
  const family = await db().oauth_families.create({
    data: { ...own, id: newId(), client_row_id, user_id, scopes, flow: 'code', created_at: at, last_used_at: at, expires_at: later },
  });
  const refresh = mintToken('refresh_token_live');
  await db().oauth_refresh.create({
    data: { ...own, id: newId(), family_id: family.id, digest: new Uint8Array(refresh.digest), expires_at: later },
  });
  const access = await accessOf(ctx, client_row_id, { kind: 'user', user_id, family_id: family.id, scopes, expires_at: soon });
  return { family, access, user_id };
}

/** An access token of a client, as the token endpoint leaves it. */
export async function accessOf(ctx: Ctx, client_row_id: string, extra: Record<string, unknown> = {}) {
  const { token, digest } = mintToken(ctx.sandbox ? 'oauth_token_test' : 'oauth_token_live');
  const row = await db().oauth_access.create({
    data: {
      id: newId(),
      tenant_id: ctx.tenant_id,
      sandbox: ctx.sandbox,
      digest: new Uint8Array(digest),
      kind: 'client',
      client_row_id,
      scopes: ['routes:read'],
      issued_at: ctx.now,
      expires_at: new Date(ctx.now.getTime() + 3_600_000),
      ...extra,
    },
  });
  return { token, id: row.id };
}

const grantRef: Sample = async (ctx) => {
  const { id } = await clientId(ctx);
  return { id, grant_id: (await grantOf(ctx, id as string)).family.id };
};

export const samples: Record<string, Sample> = {
  'oauth_clients.list': nothing,
  'oauth_clients.get': clientId,
  'oauth_clients.create': client,
  'oauth_clients.update': async (ctx) => ({ ...(await clientId(ctx)), name: fresh('renamed') }),
  'oauth_clients.rotate_secret': clientId,
  'oauth_clients.revoke': clientId,
  'oauth_clients.list_grants': clientId,
  'oauth_clients.revoke_grant': grantRef,
};

export const confirmedSamples: Record<string, Sample> = {
  'oauth_clients.create': client,
  'oauth_clients.rotate_secret': clientId,
  'oauth_clients.update': async (ctx) => ({ ...(await clientId(ctx)), allowed_scopes: ['routes:read', 'routes:write'] }),
};

export const dependsOnState = [
  /Write |isn't allowed|isn't a valid|only for |Wildcards|segment|has no |is longer|absolute URI|percent-encoded|contains |browsers read|port must be|has nothing|Use https/,
  /has no secret|requires at least one redirect URI|is not among allowed_scopes|can't be changed/,
];
export const shownOnce = { 'oauth_clients.create': ['client_secret'], 'oauth_clients.rotate_secret': ['client_secret'] };

export const harmless = {
  // Judged in changes.ts, where a change that loosens asks for oauth.client.
  'oauth_clients.update': [
    'name',
    'active',
    'allowed_scopes',
    'redirect_uris',
    'require_dpop',
    'require_pkce',
    'token_format',
    'consent_html_template',
    'step_up_scopes',
    'type',
    'grant_types',
  ],
};
