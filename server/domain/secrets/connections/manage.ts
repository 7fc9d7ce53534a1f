import type { z } from 'zod';
import { readConnection } from '#server/custody/connections/connection.ts';
import { openTokens } from '#server/custody/connections/connections.ts';
import type { TokenSet } from '#server/custody/connections/token-set.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { isInteractive, type Oauth2Config } from '#server/kernel/oauth2-providers.ts';
import { lockedSecret } from '../store.ts';
import { connectionFor, openConsent } from './consents.ts';
import { firstTokens } from './create.ts';
import { replaceTokens } from './replace.ts';
import type { UpdateConnection } from './schema.ts';
import { endOf, sealTokenSet, tokensOf } from './token-values.ts';

type Ref = { id: string; environment?: string | undefined };

/** Wipes the tokens and keeps the client's credentials; calls are refused until somebody connects it again. @throws Refusal not_found, invalid_type, conflict */
export async function disconnect(ctx: Ctx, input: Ref) {
  const { secret, environment } = await connectionFor(ctx, input);
  const found = await held(ctx, secret.id, environment);
  const { client_secret, username, password } = await openTokens(ctx, found);
  const sealed = await sealTokenSet(ctx, { client_secret, username, password });
  return mutate(ctx, async (tx) => {
    const state = { oauth2_status: 'disconnected', oauth2_expires_at: null, oauth2_refreshed_at: null };
    if (!(await replaceTokens(tx, ctx, found, sealed, state))) throw changedMeanwhile();
    return audited(
      {
        ...{ id: secret.id, name: secret.name, environment },
        connection_status: 'disconnected' as const,
        token_expires_at: null,
        authorization_url: null,
      },
      {
        action: 'update',
        resource_type: 'secret',
        resource_id: secret.id,
        name: secret.name,
        changes: [{ field: 'connection_status', from: found.status, to: 'disconnected' }],
        details: { change: 'oauth2_status', environment },
      },
    );
  });
}

/**
 * The way back: a grant without a browser gets new tokens at once; for the others the answer has the address where a person consents.
 * @throws Refusal not_found, invalid_type, validation_error when the provider refuses, conflict
 */
export async function reconnect(ctx: Ctx, input: Ref) {
  const { secret, config, environment } = await connectionFor(ctx, input);
  const found = await held(ctx, secret.id, environment);
  const base = { id: secret.id, name: secret.name, environment };
  if (isInteractive(config.grant_type)) {
    const { authorization_url } = await openConsent(ctx, { ...base, config });
    return { ...base, connection_status: found.status, token_expires_at: found.expires_at, authorization_url };
  }
  const { client_secret, username, password } = await openTokens(ctx, found);
  return connectedWith(ctx, base, found, config, { client_secret, username, password });
}

/**
 * Other credentials of the client, or other scopes. A grant without a browser is connected with them before they are stored; the others keep their tokens,
 * and use the new credentials at the next refresh. @throws Refusal not_found, invalid_type, validation_error, conflict
 */
export async function updateConnection(ctx: Ctx, input: z.output<typeof UpdateConnection>) {
  const { secret, config, environment } = await connectionFor(ctx, input);
  const { client_secret, username, password, scopes } = input;
  if (client_secret === undefined && username === undefined && password === undefined && scopes === undefined)
    throw new Refusal('validation_error', 'body: must have client_secret, username, password or scopes');
  if ((username !== undefined || password !== undefined) && config.grant_type !== 'password')
    throw invalid(username === undefined ? 'password' : 'username', 'is only used by the password grant');
  if (client_secret !== undefined && config.token_endpoint_auth_method === 'none')
    throw invalid('client_secret', 'is not used by this connection');
  const found = await held(ctx, secret.id, environment);
  const before = await openTokens(ctx, found);
  const next: TokenSet = {
    client_secret: client_secret ?? before.client_secret,
    username: username ?? before.username,
    password: password ?? before.password,
  };
  const settings = scopes === undefined ? config : { ...config, scopes };
  const base = { id: secret.id, name: secret.name, environment };
  const changed = Object.entries({ client_secret, username, password, scopes }).flatMap(([field, value]) =>
    value === undefined ? [] : [field],
  );
  if (!isInteractive(config.grant_type)) return connectedWith(ctx, base, found, settings, next, changed);
  const sealed = await sealTokenSet(ctx, { ...before, ...next });
  return mutate(ctx, async (tx) => {
    const row = await lockedSecret(tx, ctx, secret.id, { for: 'change' });
    await tx.secrets.update({
      where: { id: row.id, ...own(ctx) },
      data: { oauth2_config: settings, updated_at: ctx.now },
      select: { id: true },
    });
    const state = { oauth2_status: found.status, oauth2_expires_at: found.expires_at, oauth2_refreshed_at: found.refreshed_at };
    if (!(await replaceTokens(tx, ctx, found, sealed, state, { keepsTokens: true }))) throw changedMeanwhile();
    return audited(
      { ...base, connection_status: found.status, token_expires_at: found.expires_at, authorization_url: null },
      configEntry(base, changed),
    );
  });
}

type Base = { id: string; name: string; environment: string };
type Held = NonNullable<Awaited<ReturnType<typeof readConnection>>>;

async function connectedWith(
  ctx: Ctx,
  base: Base,
  found: Held,
  config: Oauth2Config,
  credentials: TokenSet,
  changed: readonly string[] = [],
) {
  const granted = await firstTokens(ctx, config, credentials, base.environment);
  const sealed = await sealTokenSet(ctx, { ...credentials, ...tokensOf(granted) });
  const expires_at = endOf(granted, ctx.now);
  return mutate(ctx, async (tx) => {
    await tx.secrets.update({
      where: { id: base.id, ...own(ctx) },
      data: { oauth2_config: config, updated_at: ctx.now },
      select: { id: true },
    });
    const state = { oauth2_status: 'connected', oauth2_expires_at: expires_at, oauth2_refreshed_at: ctx.now };
    if (!(await replaceTokens(tx, ctx, found, sealed, state))) throw changedMeanwhile();
    const value = { ...base, connection_status: 'connected' as const, token_expires_at: expires_at, authorization_url: null };
    const entry = {
      action: 'update',
      resource_type: 'secret',
      resource_id: base.id,
      name: base.name,
      changes: [{ field: 'connection_status', from: found.status, to: 'connected' }],
      details: { change: 'oauth2_status', environment: base.environment },
    };
    return changed.length > 0 ? audited(value, configEntry(base, changed), entry) : audited(value, entry);
  });
}

const configEntry = ({ id, name, environment }: Base, fields: readonly string[]) => ({
  action: 'update',
  resource_type: 'secret',
  resource_id: id,
  name,
  details: { change: 'oauth2_config', environment, fields },
});

async function held(ctx: Ctx, secretId: string, environment: string): Promise<Held> {
  const found = await readConnection(ctx, { secretId, environment });
  if (!found) throw notFound();
  return found;
}

const changedMeanwhile = () => new Refusal('conflict', 'The connection changed at the same time. Try again.');
