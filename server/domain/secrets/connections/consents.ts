import { randomBase64url } from '#server/crypto/random.ts';
import { digest } from '#server/crypto/tokens.ts';
import { clientTls } from '#server/custody/connections/certificates.ts';
import { readConnection } from '#server/custody/connections/connection.ts';
import { openTokens } from '#server/custody/connections/connections.ts';
import { type GrantedTokens, requestTokens } from '#server/custody/connections/token-endpoint.ts';
import { memberCtx } from '#server/domain/people/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { isInteractive, type Oauth2Config } from '#server/kernel/oauth2-providers.ts';
import type { PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import { TokenFault } from '#server/platform/connect/oauth2.ts';
import { env } from '#server/platform/env.ts';
import { keyring } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { secretById } from '../store.ts';
import { whenSealed } from '../values.ts';
import { replaceTokens } from './replace.ts';
import { redirectUriOf } from './settings.ts';
import { endOf, sealTokenSet, tokensOf } from './token-values.ts';

// The consent of a person at a provider (interface rule 30 §10.2). What comes back is judged by the row of its state and by nothing else.

const OPEN_MS = 10 * 60_000;
const HANDLE_MS = 2 * 60_000;

type Asking = { id: string; name: string; environment: string; config: Oauth2Config };

/** Where a person's browser goes to consent; good once, for ten minutes. Audited, since it may end in other tokens. @throws Refusal tenant_sealed */
export async function openConsent(ctx: Ctx, { id, name, environment, config }: Asking) {
  const state = randomBase64url(32);
  const verifier = randomBase64url(32);
  const expires_at = new Date(ctx.now.getTime() + OPEN_MS);
  const rowId = newId();
  const sealed = await sealState(ctx, rowId, { verifier });
  const { actor } = ctx;
  await mutate(ctx, async (tx) => {
    await tx.oauth_states.deleteMany({ where: { ...own(ctx), expires_at: { lt: ctx.now } } });
    await tx.oauth_states.create({
      data: {
        ...own(ctx),
        ...sealed,
        id: rowId,
        secret_id: id,
        environment,
        state_hash: hashOf(state),
        ...(actor.type === 'member' ? { session_id: actor.session_id, user_id: actor.id } : {}),
        actor_label: actor.label,
        created_at: ctx.now,
        expires_at,
      },
      select: { id: true },
    });
    return audited(null, {
      action: 'execute',
      resource_type: 'secret',
      resource_id: id,
      name,
      details: { operation: 'oauth2_authorize', environment },
    });
  });
  return { authorization_url: authorizationUrl(id, config, state, verifier), expires_at };
}

function authorizationUrl(secretId: string, config: Oauth2Config, state: string, verifier: string): string {
  const url = new URL(config.auth_url ?? '');
  const code = config.grant_type === 'authorization_code';
  const parameters = {
    ...config.extra_auth_params,
    response_type: code ? 'code' : 'token',
    client_id: config.client_id,
    redirect_uri: redirectUriOf(secretId),
    ...(config.scopes.length > 0 ? { scope: config.scopes.join(' ') } : {}),
    state,
    ...(code ? { code_challenge: digest(verifier).toString('base64url'), code_challenge_method: 'S256' } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Another consent for a connection that there is. @throws Refusal not_found, invalid_type, validation_error */
export async function startConsent(ctx: Ctx, input: { id: string; environment?: string | undefined }) {
  const { secret, config, environment } = await connectionFor(ctx, input);
  if (!isInteractive(config.grant_type))
    throw new Refusal(
      'validation_error',
      `id: this connection uses the ${config.grant_type} grant, which needs no consent. Reconnect it instead.`,
    );
  return openConsent(ctx, { id: secret.id, name: secret.name, environment, config });
}

/** The secret, its settings and the environment that is meant. @throws Refusal not_found, invalid_type */
export function connectionFor(ctx: Ctx, input: { id: string; environment?: string | undefined }) {
  return read(ctx, async (tx) => {
    const secret = await secretById(tx, ctx, input.id);
    if (secret.secret_type !== 'oauth2')
      throw new Refusal('invalid_type', `This secret is of type ${secret.secret_type}. This call only supports OAuth2 connections.`);
    const environment = input.environment ?? secret.base_environment ?? '';
    const row = await tx.secret_environments.findFirst({
      where: { ...own(ctx), secret_id: secret.id, environment_name: environment },
      select: { id: true },
    });
    if (!row) throw notFound();
    return { secret, environment, config: secret.oauth2_config as unknown as Oauth2Config };
  });
}

export type CallbackOutcome =
  /** The browser goes on to a page of ours. */
  | { kind: 'redirect'; location: string }
  /** A code of ours that a page explains. */
  | { kind: 'failed'; code: 'state_unknown' | 'access_denied' | 'provider_error' | 'exchange_failed' | 'token_missing' }
  /** The implicit grant: the token is in the fragment, which only the page can read. */
  | { kind: 'fragment' };

type StateRow = Prisma.oauth_statesGetPayload<object>;

/**
 * A browser came back from a provider. Checks in their order: state known, unused, in time and of this secret; the provider's error; then the session that
 * began it, elsewhere, because its cookie lives on the dashboard's host alone; then the exchange.
 */
export async function consentReturned(person: PersonCtx, secretId: string, query: Record<string, string>): Promise<CallbackOutcome> {
  const peeked = await stateFor(person, secretId, query.state ?? '');
  // Without a state of ours there is nothing to say about a secret.
  if (!peeked) return UNKNOWN;
  const config = await configOf(person, peeked);
  if (config?.grant_type === 'implicit' && query.error === undefined) return { kind: 'fragment' };
  const row = await useState(person, peeked);
  if (!row || !config) return UNKNOWN;
  if (query.error !== undefined) {
    await noteFailure(person, row, query.error === 'access_denied' ? 'access_denied' : 'provider_error');
    return { kind: 'failed', code: query.error === 'access_denied' ? 'access_denied' : 'provider_error' };
  }
  const code = query.code ?? '';
  if (code === '' || code.length > 4_096) {
    await noteFailure(person, row, 'provider_error');
    return { kind: 'failed', code: 'provider_error' };
  }
  if (row.session_id !== null) return { kind: 'redirect', location: await handedOver(person, row, code) };
  return finish(person, row, await contextOf(person, row), code, config);
}

const UNKNOWN = { kind: 'failed', code: 'state_unknown' } as const;

/** The page of the implicit grant posts what stood in its fragment. */
export async function fragmentReturned(
  person: PersonCtx,
  secretId: string,
  { state, access_token, token_type, expires_in }: Record<string, string>,
): Promise<CallbackOutcome> {
  const peeked = await stateFor(person, secretId, state ?? '');
  const config = peeked && (await configOf(person, peeked));
  if (!peeked || config?.grant_type !== 'implicit') return UNKNOWN;
  const row = await useState(person, peeked);
  if (!row) return UNKNOWN;
  if (!access_token || !/^[\x21-\x7e]{1,16384}$/.test(access_token)) {
    await noteFailure(person, row, 'token_missing');
    return { kind: 'failed', code: 'token_missing' };
  }
  const seconds = /^\d{1,9}$/.test(expires_in ?? '') ? Number(expires_in) : null;
  const granted = {
    access_token,
    refresh_token: undefined,
    token_type: /^[\w-]{1,40}$/.test(token_type ?? '') ? String(token_type) : 'Bearer',
    expires_in: seconds,
    scope: undefined,
  };
  // The session can't be asked for here: the token came by a page of the API's host. It was for this state, which only its starter had.
  const stored = await store(person, await contextOf(person, row), row, granted);
  return stored ? { kind: 'redirect', location: await pageOf(person, row, 'yes') } : { kind: 'failed', code: 'exchange_failed' };
}

/** The dashboard's half: the session that began the consent is here, or nothing is exchanged. */
export async function completeConsent(person: SignedInCtx, input: { id: string; handle: string }): Promise<{ location: string }> {
  const [row] = await person.db.oauth_states.updateManyAndReturn({
    where: {
      handle_hash: hashOf(input.handle),
      secret_id: isUuid(input.id) ? input.id : newId(),
      session_id: person.session.id,
      user_id: person.user.id,
      completed_at: null,
      handle_expires_at: { gt: person.now },
    },
    data: { completed_at: person.now },
  });
  if (!row) return { location: `${env.PUBLIC_ADMIN_URL}/?connection=state_unknown` };
  const config = await configOf(person, row);
  const { session, user, request_id, ip, user_agent } = person;
  const ctx = await memberCtx({
    person: { session, user },
    workspace: row.tenant_id,
    space: spaceOf(row.sandbox),
    request_id,
    ip,
    user_agent,
  });
  if (!config || !ctx.actor.capabilities.has('secret:update')) return { location: await pageOf(person, row, 'forbidden') };
  const { code = '' } = await openState(row);
  const outcome = await finish(person, row, ctx, code, config);
  return { location: outcome.kind === 'redirect' ? outcome.location : await pageOf(person, row, 'exchange_failed') };
}

/** Exchanges the code and stores what came. A failure is noted on the connection, by a code alone. */
async function finish(person: PersonCtx, row: StateRow, ctx: Ctx, code: string, config: Oauth2Config): Promise<CallbackOutcome> {
  const ref = { secretId: row.secret_id, environment: row.environment };
  const found = await readConnection(ctx, ref);
  if (!found) return UNKNOWN;
  const { verifier } = await openState(row);
  const credentials = await openTokens(ctx, found);
  const client = config.mtls_certificate_id === null ? undefined : await clientTls(ctx, config.mtls_certificate_id, row.environment);
  try {
    const grant = { type: 'authorization_code' as const, code, verifier, redirect_uri: redirectUriOf(row.secret_id) };
    const granted = await requestTokens({ tenant: ctx.tenant_id, space: spaceOf(ctx.sandbox) }, config, credentials, grant, client);
    const stored = await store(person, ctx, row, granted);
    if (stored) return { kind: 'redirect', location: await pageOf(person, row, 'yes') };
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error;
    log.warn(
      { request_id: person.request_id, secret_id: row.secret_id, fault: error.code ?? error.kind },
      'a consent could not be exchanged',
    );
  }
  await noteFailure(person, row, 'exchange_failed');
  return { kind: 'failed', code: 'exchange_failed' };
}

async function store(person: PersonCtx, ctx: Ctx, row: StateRow, granted: GrantedTokens): Promise<boolean> {
  const found = await readConnection(ctx, { secretId: row.secret_id, environment: row.environment });
  if (!found) return false;
  const { client_secret, username, password } = await openTokens(ctx, found);
  const sealed = await sealTokenSet(ctx, { client_secret, username, password, ...tokensOf(granted) });
  const expires_at = endOf(granted, person.now);
  return mutate(ctx, async (tx) => {
    const state = { oauth2_status: 'connected', oauth2_expires_at: expires_at, oauth2_refreshed_at: ctx.now };
    const stored = await replaceTokens(tx, ctx, found, sealed, state);
    return audited(stored, {
      action: 'update',
      resource_type: 'secret',
      resource_id: row.secret_id,
      name: found.name,
      changes: [{ field: 'connection_status', from: found.status, to: stored ? 'connected' : found.status }],
      details: { change: 'oauth2_status', environment: row.environment, consent: stored },
    });
  });
}

/** A consent that failed shows on a connection that has none; one that works goes on. */
async function noteFailure(person: PersonCtx, row: StateRow, code: string): Promise<void> {
  const ctx = await contextOf(person, row);
  await mutate(ctx, async (tx) => {
    await tx.secret_environments.updateMany({
      where: { ...own(ctx), secret_id: row.secret_id, environment_name: row.environment, oauth2_status: 'pending' },
      data: { oauth2_status: 'error', oauth2_error: code },
    });
    return audited(null, {
      action: 'update',
      resource_type: 'secret',
      resource_id: row.secret_id,
      details: { change: 'oauth2_status', environment: row.environment, reason: code },
    });
  });
}

/** Puts the code aside for two minutes; the browser carries a handle to the dashboard's host. */
async function handedOver(person: PersonCtx, row: StateRow, code: string): Promise<string> {
  const handle = randomBase64url(32);
  const ctx = await contextOf(person, row);
  const sealed = await sealState(ctx, row.id, { ...(await openState(row)), code });
  await person.db.oauth_states.update({
    where: { id: row.id },
    data: { ...sealed, handle_hash: hashOf(handle), handle_expires_at: new Date(person.now.getTime() + HANDLE_MS) },
    select: { id: true },
  });
  return `${env.PUBLIC_ADMIN_URL}/admin/secrets/${row.secret_id}/oauth2/complete?handle=${handle}`;
}

/** The open state of this secret; null for one that is unknown, used, over or another's, all alike. */
async function stateFor(person: PersonCtx, secretId: string, state: string): Promise<StateRow | null> {
  if (!isUuid(secretId) || !/^[A-Za-z0-9_-]{43}$/.test(state)) return null;
  return person.db.oauth_states.findFirst({
    where: { state_hash: hashOf(state), secret_id: secretId, used_at: null, expires_at: { gt: person.now } },
  });
}

/** Whoever comes first uses it; null for everybody after. */
async function useState(person: PersonCtx, { id }: StateRow): Promise<StateRow | null> {
  const [row] = await person.db.oauth_states.updateManyAndReturn({
    where: { id, used_at: null, expires_at: { gt: person.now } },
    data: { used_at: person.now },
  });
  return row ?? null;
}

async function configOf(person: Pick<PersonCtx, 'db'>, row: StateRow): Promise<Oauth2Config | null> {
  const secret = await person.db.secrets.findFirst({
    where: { id: row.secret_id, tenant_id: row.tenant_id },
    select: { oauth2_config: true },
  });
  return (secret?.oauth2_config as unknown as Oauth2Config | null) ?? null;
}

/** The dashboard's page of the secret, which says how it went. */
async function pageOf(person: Pick<PersonCtx, 'db'>, row: StateRow, result: string): Promise<string> {
  const tenant = await person.db.tenants.findUniqueOrThrow({ where: { id: row.tenant_id }, select: { slug: true } });
  return `${env.PUBLIC_ADMIN_URL}/${tenant.slug}/${spaceOf(row.sandbox)}/secrets/${row.secret_id}?tab=connection&connected=${result}`;
}

/** Whoever began the consent is who changes the connection, by the name they had. */
async function contextOf(person: PersonCtx, row: StateRow): Promise<Ctx> {
  const { db, request_id, ip, user_agent, now } = person;
  const { subscription_plan } = await db.tenants.findUniqueOrThrow({ where: { id: row.tenant_id }, select: { subscription_plan: true } });
  return {
    db,
    tenant_id: row.tenant_id,
    sandbox: row.sandbox,
    actor: { type: 'system', id: null, label: row.actor_label ?? 'connections', capabilities: new Set() },
    plan: subscription_plan as Ctx['plan'],
    ...{ request_id, ip, user_agent, now },
    warnings: [],
  };
}

const hashOf = (text: string) => new Uint8Array(digest(text));

type State = { verifier: string; code?: string | undefined };
const placeOf = ({ tenant_id, sandbox }: Pick<Ctx, 'tenant_id' | 'sandbox'>, rowId: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'oauth2_state', row_id: rowId }) as const;

async function sealState(ctx: Pick<Ctx, 'tenant_id' | 'sandbox'>, rowId: string, state: State) {
  const bytes = Buffer.from(JSON.stringify(state));
  return keyring()
    .sealValue(placeOf(ctx, rowId), bytes)
    .catch(whenSealed)
    .finally(() => bytes.fill(0));
}

async function openState(row: StateRow): Promise<State> {
  const { value_ct, cek_wrapped, tmk_version } = row;
  if (!value_ct || !cek_wrapped || tmk_version === null) throw new Error('a state of a consent has no value');
  const bytes = await keyring().openValue(placeOf(row, row.id), { value_ct, cek_wrapped, tmk_version }).catch(whenSealed);
  try {
    return JSON.parse(bytes.toString('utf8')) as State;
  } finally {
    bytes.fill(0);
  }
}
