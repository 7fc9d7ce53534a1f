import type { z } from 'zod';
import { mintClientId, mintToken } from '#server/crypto/tokens.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import { auditActor, type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { DEFAULT_GRANTS, GRANT_TYPES } from './grants.shared.ts';
import { notifyClientCreated } from './notices.ts';
import { adviceOn, assertConsistent, grantable, registrable, sorted } from './rules.ts';
import type { CreateOAuthClient } from './schema.ts';

/**
 * A new client of this space, enabled unless SCIM asks for one that isn't; the answer is the only place its secret ever stands. The dashboard, the Management API and SCIM use it.
 * @throws Refusal validation_error, plan_limit, privilege_escalation
 */
export async function createClient(ctx: Ctx, input: z.output<typeof CreateOAuthClient>, { active = true } = {}) {
  const { name, type } = input;
  const given = input.grant_types ?? DEFAULT_GRANTS[type];
  const settings = {
    type,
    grant_types: GRANT_TYPES.filter((grant) => given.includes(grant)),
    allowed_scopes: sorted(input.allowed_scopes ?? []),
    step_up_scopes: sorted(input.step_up_scopes ?? []),
    redirect_uris: registrable(input.redirect_uris ?? [], type),
    require_dpop: input.require_dpop ?? false,
    consent_html_template: input.consent_html_template ?? null,
  };
  assertConsistent(settings);
  await grantable(ctx, settings.allowed_scopes);
  let notify = () => {};
  const made = await mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'oauth_clients');
    const { type: kind, id, label, user } = auditActor(ctx.actor);
    const row = await tx.oauth_clients.create({
      data: {
        ...own(ctx),
        ...settings,
        active,
        id: newId(),
        client_id: mintClientId(),
        name,
        // It is the person's client, whichever application made it.
        created_by: user ? { kind: 'user', ...user } : { kind, id, label },
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    });
    const client_secret = type === 'confidential' ? await insertSecret(tx, ctx, row.id) : null;
    notify = await notifyClientCreated(tx, ctx, row);
    const { allowed_scopes, grant_types, redirect_uris } = settings;
    return audited(
      {
        id: row.id,
        client_id: row.client_id,
        client_secret,
        type,
        grant_types,
        allowed_scopes,
        redirect_uris,
        warning: adviceOn(settings),
      },
      {
        action: 'create',
        resource_type: 'oauth_client',
        resource_id: row.id,
        name,
        details: { client_id: row.client_id, client_type: type, grant_types, redirect_uris, scopes_added: allowed_scopes },
      },
      active ? [] : { action: 'disable', resource_type: 'oauth_client', resource_id: row.id, name, details: { client_id: row.client_id } },
    );
  });
  notify();
  return made;
}

/** Stores a new secret and returns its text, which is nowhere else. */
export async function insertSecret(tx: Tx, ctx: Ctx, clientRowId: string): Promise<string> {
  const { token, digest } = mintToken('client_secret');
  await tx.oauth_client_secrets.create({
    data: { ...own(ctx), id: newId(), client_row_id: clientRowId, digest: new Uint8Array(digest), created_at: ctx.now },
  });
  return token;
}
