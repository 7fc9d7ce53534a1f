import { Sensitive } from '#server/crypto/sensitive.ts';
import { challengeOf, newState, verifierOf } from '#server/crypto/sign-in-attempt.ts';
import { digest, digestEquals } from '#server/crypto/tokens.ts';
import { sealTokens } from '#server/custody/mcp/grants.ts';
import { openedSecret, SecretUnusable } from '#server/custody/mcp/secrets.ts';
import { memberCtx, withinScope, workspacesOf } from '#server/domain/people/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import {
  ConnectFault,
  type ConsentPlan,
  consentUrl,
  discover,
  exchange,
  type PlanClient,
  register,
} from '#server/platform/connect/mcp-oauth.ts';
import { env } from '#server/platform/env.ts';
import { keyring } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { clientDocumentUrl, clientMetadata, consentCallback } from './client-document.ts';
import { entryOf, lockedServer, readServer, type ServerRow } from './store.ts';

// A person lets the service act for them at the upstream of a server (interface rule 52 §8). It begins and ends in one browser session of that person.

const OPEN_MS = 10 * 60_000;
type Plan = ConsentPlan & {
  client_id: string;
  client_auth: PlanClient['client_auth'];
  registered: boolean;
  scopes: string[];
  upstream_url: string;
};

/**
 * Where the link of a `grant_required` answer leads: to the accounts of the server, where the person begins the consent themselves, since a link must
 * not begin one. Servers of workspaces that aren't theirs lead home, as unknown ones do.
 */
export async function connectPage({ db, user, session }: SignedInCtx, { id }: { id: string }): Promise<{ location: string }> {
  const workspaces = withinScope(await workspacesOf(db, user.id), session);
  const mine = { id, tenant_id: { in: workspaces.map((workspace) => workspace.id) } };
  const server = isUuid(id) ? await db.mcp_servers.findFirst({ where: mine, select: { id: true, tenant_id: true, sandbox: true } }) : null;
  const workspace = workspaces.find((one) => one.id === server?.tenant_id);
  const page = server && workspace ? `${accountsPage(workspace.slug, server)}?tab=people` : '/';
  return { location: `${env.PUBLIC_ADMIN_URL}${page}` };
}

const accountsPage = (slug: string, { id, sandbox }: { id: string; sandbox: boolean }) => `/${slug}/${spaceOf(sandbox)}/ai/mcp/${id}`;

/** Where the person's browser goes. @throws Refusal not_found, validation_error, forbidden to machines, dependency_unavailable */
export async function startConsent(ctx: Ctx, { id }: { id: string }): Promise<{ location: string }> {
  const { actor } = ctx;
  if (actor.type !== 'member') throw new Refusal('forbidden', 'Only a signed-in person can connect an account.');
  const server = await readServer(ctx, id, async (_, row) => row);
  const { oauth } = server.auth;
  if (!oauth || !server.upstream_url) throw new Refusal('validation_error', "id: this server doesn't use people's own accounts");
  const secrets = { browser: actor.session_id, state: newState() };
  try {
    const plan = await overHttp(async (http) => {
      const found = await discover(http, placeOf(ctx), { url: server.upstream_url as string, server: oauth.authorization_server });
      const resource = oauth.resource ?? found.resource;
      const client = await clientOf(ctx, http, server, found);
      const scopes = oauth.scopes.length > 0 ? oauth.scopes : found.scopes_supported;
      return { ...found, resource, ...client, scopes, upstream_url: server.upstream_url as string } satisfies Plan;
    });
    const { slug } = await ctx.db.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } });
    await mutate(ctx, async (tx) => {
      const row = await lockedServer(tx, ctx, id);
      await tx.mcp_consents.deleteMany({ where: { ...own(ctx), expires_at: { lt: ctx.now } } });
      await tx.mcp_consents.create({
        data: {
          ...own(ctx),
          id: newId(),
          mcp_server_id: row.id,
          user_id: actor.id,
          state_digest: digestOf(secrets.state),
          browser_digest: digestOf(secrets.browser),
          plan: plan as Prisma.InputJsonObject,
          return_to: accountsPage(slug, row),
          created_at: ctx.now,
          expires_at: new Date(ctx.now.getTime() + OPEN_MS),
        },
        select: { id: true },
      });
      return audited(null, entryOf('execute', row, { change: 'consent.start', issuer: plan.issuer }));
    });
    const location = consentUrl(plan, { ...plan, redirect_uri: consentCallback(), state: secrets.state, challenge: challengeOf(secrets) });
    return { location };
  } catch (error) {
    throw refusalOf(error);
  }
}

/** The configured client; else our document; else the registration that was made for this issuer, or a new one. */
async function clientOf(
  ctx: Ctx,
  http: OutboundHttp,
  server: ServerRow,
  plan: ConsentPlan,
): Promise<Pick<Plan, 'client_id' | 'client_auth' | 'registered'>> {
  const { client_id, client_secret_id, authorization_server } = server.auth.oauth ?? {};
  // Else the upstream alone would say who gets the stored secret.
  if (client_secret_id !== undefined && authorization_server === undefined)
    throw new ConnectFault(
      'misconfigured',
      'Enter the authorization server in the settings: the client secret may be sent to that one only.',
    );
  if (client_id !== undefined)
    return { client_id, client_auth: client_secret_id === undefined ? 'none' : methodOf(plan), registered: false };
  if (plan.takes_documents) return { client_id: clientDocumentUrl(), client_auth: 'none', registered: false };
  const known = await ctx.db.mcp_registrations.findFirst({ where: { ...own(ctx), mcp_server_id: server.id, issuer: plan.issuer } });
  if (known) return { client_id: known.client_id, client_auth: known.client_auth as PlanClient['client_auth'], registered: true };
  if (plan.registration_endpoint === null)
    throw new ConnectFault(
      'unsupported',
      "The authorization server doesn't register clients by itself. Register this service there, and enter its client ID in the settings.",
    );
  const made = await register(http, placeOf(ctx), plan, clientMetadata());
  const id = newId();
  const sealed =
    made.client_secret === null
      ? null
      : await keyring().sealValue({ ...sealedPlace(ctx), row_id: id }, Buffer.from(made.client_secret.reveal()));
  const columns = {
    id,
    issuer: plan.issuer,
    client_id: made.client_id,
    client_auth: made.client_auth,
    ...(sealed ?? { value_ct: null, cek_wrapped: null, tmk_version: null }),
  };
  await mutate(ctx, async (tx) => {
    await tx.mcp_registrations.deleteMany({ where: { ...own(ctx), mcp_server_id: server.id } });
    await tx.mcp_registrations.create({
      data: { ...own(ctx), ...columns, mcp_server_id: server.id, created_at: ctx.now },
      select: { id: true },
    });
    return audited(null, entryOf('update', server, { change: 'client.register', issuer: plan.issuer, client_id: made.client_id }));
  });
  return { client_id: made.client_id, client_auth: made.client_auth, registered: true };
}

const methodOf = ({ auth_methods }: ConsentPlan): PlanClient['client_auth'] =>
  auth_methods.includes('client_secret_post') && !auth_methods.includes('client_secret_basic')
    ? 'client_secret_post'
    : 'client_secret_basic';

/**
 * The person is back. The consent is used up before anything is exchanged, and only in the session that began it: an answer that somebody else received connects nobody.
 * Always leads to a page; what went wrong is a code in its address, never a text.
 */
export async function finishConsent(person: SignedInCtx, query: Record<string, unknown>): Promise<{ location: string }> {
  const state = typeof query.state === 'string' ? query.state : '';
  const open = await person.db.mcp_consents.updateManyAndReturn({
    where: { state_digest: digestOf(state), user_id: person.user.id, used_at: null, expires_at: { gt: person.now } },
    data: { used_at: person.now },
  });
  const consent = open[0];
  if (!consent || !digestEquals(consent.browser_digest, digestOf(person.session.id)))
    return { location: `${env.PUBLIC_ADMIN_URL}/?mcp=expired` };
  const back = (result: string) => ({ location: `${env.PUBLIC_ADMIN_URL}${consent.return_to}?tab=people&connected=${result}` });
  try {
    const { session, user, request_id, ip, user_agent } = person;
    const ctx = await memberCtx({
      person: { session, user },
      workspace: consent.tenant_id,
      space: spaceOf(consent.sandbox),
      request_id,
      ip,
      user_agent,
    });
    await connected(ctx, person, consent, { state, query });
    return back('yes');
  } catch (error) {
    if (error instanceof ConnectFault || error instanceof SecretUnusable) {
      log.warn({ err: error, request_id: person.request_id }, 'an MCP consent failed');
      return back(error.reason);
    }
    if (error instanceof Refusal) return back(error.type);
    throw error;
  }
}

type Consent = Prisma.mcp_consentsGetPayload<object>;

async function connected(
  ctx: Ctx,
  person: SignedInCtx,
  consent: Consent,
  { state, query }: { state: string; query: Record<string, unknown> },
): Promise<void> {
  const plan = consent.plan as unknown as Plan;
  const server = await readServer(ctx, consent.mcp_server_id, async (_, row) => row);
  // The upstream moved while the person was away: what they agreed to is for the old one.
  if (server.upstream_url !== plan.upstream_url) throw new Refusal('conflict', MOVED);
  const parameters = new URLSearchParams();
  for (const name of ['state', 'code', 'iss', 'error']) if (typeof query[name] === 'string') parameters.set(name, query[name]);
  const client_secret = await secretOf(ctx, server, plan);
  const tokens = await overHttp((http) =>
    exchange(
      http,
      placeOf(ctx),
      plan,
      { ...plan, client_secret },
      {
        parameters,
        state,
        verifier: verifierOf({ browser: person.session.id, state }),
        redirect_uri: consentCallback(),
        now: ctx.now,
      },
    ),
  );
  const id = newId();
  const sealed = await sealTokens(ctx, id, {
    access_token: tokens.access_token.reveal(),
    refresh_token: tokens.refresh_token?.reveal(),
    // A configured one is read where it is kept, each time.
    client_secret: plan.registered ? client_secret?.reveal() : undefined,
  });
  const external_id = person.user.email.toLowerCase();
  await mutate(ctx, async (tx) => {
    const row = await lockedServer(tx, ctx, server.id);
    if (row.upstream_url !== plan.upstream_url) throw new Refusal('conflict', MOVED);
    const ended = {
      status: 'revoked',
      value_ct: null,
      cek_wrapped: null,
      tmk_version: null,
      has_refresh_token: false,
      expires_at: null,
      revoked_at: ctx.now,
    };
    await tx.mcp_grants.updateMany({
      where: { ...own(ctx), mcp_server_id: row.id, status: 'active', OR: [{ user_id: person.user.id }, { external_id }] },
      data: ended,
    });
    const attributed = await tx.ai_attributed_users.findFirst({ where: { ...own(ctx), external_id }, select: { id: true } });
    await tx.mcp_grants.create({
      data: {
        ...own(ctx),
        ...sealed,
        id,
        mcp_server_id: row.id,
        user_id: person.user.id,
        external_id,
        attributed_user_id: attributed?.id ?? null,
        display_name: person.user.full_name,
        scopes: tokens.scopes.length > 0 ? tokens.scopes : plan.scopes,
        issuer: plan.issuer,
        token_endpoint: plan.token_endpoint,
        revocation_endpoint: plan.revocation_endpoint,
        client_id: plan.client_id,
        client_auth: plan.client_auth,
        resource: plan.resource,
        has_refresh_token: tokens.refresh_token !== null,
        expires_at: tokens.expires_at,
        created_at: ctx.now,
        updated_at: ctx.now,
      },
      select: { id: true },
    });
    return audited(
      null,
      entryOf('create', row, { change: 'grant.create', grant_id: id, external_id, issuer: plan.issuer, scopes: tokens.scopes }),
    );
  });
}

const MOVED = 'The server changed meanwhile. Connect again.';

async function secretOf(ctx: Ctx, server: ServerRow, plan: Plan): Promise<Sensitive<string> | null> {
  if (plan.client_auth === 'none') return null;
  if (!plan.registered) {
    const id = server.auth.oauth?.client_secret_id;
    if (id === undefined) throw new Refusal('conflict', 'The settings changed meanwhile. Connect again.');
    return openedSecret(ctx, { id, environment: server.auth.environment_name ?? null, url: plan.token_endpoint, now: ctx.now });
  }
  const row = await ctx.db.mcp_registrations.findFirst({
    where: { ...own(ctx), mcp_server_id: server.id, issuer: plan.issuer, client_id: plan.client_id },
  });
  if (!row?.value_ct || !row.cek_wrapped || row.tmk_version === null)
    throw new Refusal('conflict', 'The registration was replaced meanwhile. Connect again.');
  const bytes = await keyring().openValue(
    { ...sealedPlace(ctx), row_id: row.id },
    { value_ct: row.value_ct, cek_wrapped: row.cek_wrapped, tmk_version: row.tmk_version },
  );
  try {
    return new Sensitive(bytes.toString('utf8'));
  } finally {
    bytes.fill(0);
  }
}

const digestOf = (text: string) => new Uint8Array(digest(text));
const placeOf = (ctx: Ctx) => ({ tenant: ctx.tenant_id, space: spaceOf(ctx.sandbox) });
const sealedPlace = (ctx: Ctx) => ({ tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'mcp_grant' }) as const;

function refusalOf(error: unknown): unknown {
  if (!(error instanceof ConnectFault)) return error;
  return error.reason === 'unreachable'
    ? new Refusal('dependency_unavailable', error.message, { retryAfter: 30 })
    : new Refusal('validation_error', `upstream_url: ${error.message}`);
}

async function overHttp<T>(work: (http: OutboundHttp) => Promise<T>): Promise<T> {
  const http = openHttp({ connections: 2, connectTimeoutMs: 5_000 });
  try {
    return await work(http);
  } finally {
    await http.close();
  }
}
