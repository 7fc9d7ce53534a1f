import { CLI_ALIAS } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { auditCtx, chosen, lockSignedIn, type WorkspaceRow, withinScope, workspacesOf } from '#server/domain/people/service.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, writeAudit } from '#server/kernel/mutate.ts';
import type { PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import { env } from '#server/platform/env.ts';
import {
  closeRequest,
  codeAddress,
  errorAddress,
  issueCode,
  type PendingRequest,
  pendingRequest,
  releaseRequest,
  requestOver,
  tieRequest,
} from './authorize-requests.ts';
import { cliClientOf } from './cli-client.ts';
import { consentProof, proveConsent } from './consent-proof.ts';
import { tellOfGrant } from './notices.ts';
import { assertMayLogIn, type Offer, offerOf } from './offers.ts';
import { redirectHost } from './redirect-host.ts';
import { isRemembered, rememberConsent } from './remembered.ts';
import { assertTakesUrlClient, namedWorkspace, urlClientOf } from './url-client.ts';

export type Decision = { handle: string; decision: 'allow' | 'deny'; workspace: string | null };

/**
 * What the person decided on the consent page (interface rule 21 §7): a code for the client, or access_denied.
 * @returns where the browser goes
 * @throws Refusal not_found when the request is over or another session's, step_up_required, mfa_required, what entering the workspace takes
 */
export async function decideConsent(ctx: SignedInCtx, { handle, decision, workspace }: Decision): Promise<{ location: string }> {
  const request = await ownRequest(ctx, handle);
  if (decision === 'deny') return deny(ctx, request, workspace);
  if (needsFreshSignIn(request, ctx)) throw new Refusal('not_authenticated', 'Sign in again to continue.');
  const place = await placeOf(ctx, request, workspace);
  const offer = offerOf({ ...request, client: request.app }, place);
  if (offer.denied) return closedWith(ctx, request, place, 'access_denied', beyondRole(offer));
  return { location: await grant(ctx, request, place, offer) };
}

/**
 * The way past the page: `prompt=none`, and what the person consented to before. Without either the browser goes on to the page.
 * @returns where the browser goes
 */
export async function resumeConsent(ctx: PersonCtx, handle: string): Promise<{ location: string }> {
  const page = { location: `${env.PUBLIC_ADMIN_URL}/oauth/consent/${encodeURIComponent(handle)}` };
  const request = await pendingRequest(ctx.db, handle, ctx.now);
  if (!request) return page;
  const silent = request.prompt.includes('none');
  const answered = async (error: Parameters<typeof errorAddress>[1], description: string) => {
    await ctx.db.$transaction((tx) => closeRequest(tx, request, { now: ctx.now }));
    return { location: errorAddress(request, error, description) };
  };
  if (!ctx.session || !ctx.user) return silent ? answered('login_required', 'Nobody is signed in.') : page;
  const signedIn = ctx as SignedInCtx;
  if (!(await tieRequest(ctx.db, request, ctx.session))) return page;
  const way = await wayPast(signedIn, request);
  if (way.skips) return { location: await grant(signedIn, request, way.place, way.offer) };
  return silent ? answered(way.error, way.description) : page;
}

/** Whether the person's earlier consent answers the request, so that no page is needed. Reads only. */
export const skipsPage = async (ctx: SignedInCtx, request: PendingRequest): Promise<boolean> => (await wayPast(ctx, request)).skips;

type Way =
  | { skips: true; place: WorkspaceRow; offer: Offer }
  | { skips: false; error: 'interaction_required' | 'consent_required' | 'access_denied' | 'login_required'; description: string };

async function wayPast(ctx: SignedInCtx, request: PendingRequest): Promise<Way> {
  let place: WorkspaceRow;
  try {
    place = await placeOf(ctx, request, null);
  } catch (error) {
    const { type, message } = asRefusal(error);
    return { skips: false, error: type === 'not_a_member' ? 'access_denied' : 'interaction_required', description: message };
  }
  const offer = offerOf({ ...request, client: request.app }, place);
  if (offer.denied) return { skips: false, error: 'access_denied', description: beyondRole(offer) };
  const proof = await consentProof(ctx, offer);
  if (proof === 'confirm') return { skips: false, error: 'interaction_required', description: 'A second factor is needed.' };
  if (proof === 'sign_in') return { skips: false, error: 'login_required', description: 'The sign-in is more than 12 hours old.' };
  const skips = await isRemembered(ctx.db, request, offer.scopes, { user_id: ctx.user.id, now: ctx.now });
  return skips ? { skips, place, offer } : { skips, error: 'consent_required', description: 'The person has not consented yet.' };
}

/** Gives the request up for another account. @throws Refusal not_found */
export async function releaseConsent(ctx: SignedInCtx, handle: string): Promise<void> {
  const request = await ownRequest(ctx, handle);
  await releaseRequest(ctx.db, request.id, ctx.session.id);
}

/** The request of this session. @throws Refusal not_found */
async function ownRequest(ctx: SignedInCtx, handle: string): Promise<PendingRequest> {
  const request = await pendingRequest(ctx.db, handle, ctx.now);
  if (!request || request.session_id !== ctx.session.id) throw requestOver();
  return request;
}

/** `prompt=login`: a session that is older than the request doesn't count. */
export const needsFreshSignIn = (
  { prompt, created_at }: Pick<PendingRequest, 'prompt' | 'created_at'>,
  { session }: Pick<SignedInCtx, 'session'>,
) => prompt.includes('login') && session.created_at < created_at;

/**
 * The workspace of the login: the client's own, or for service-cli the one that was chosen, else hinted at, else the session's.
 * @throws Refusal not_a_member, session_scope_mismatch, invalid when there is none to choose by, what entering it takes
 */
export async function placeOf(
  ctx: SignedInCtx,
  request: PendingRequest,
  wanted: string | null,
  tx: Db | Tx = ctx.db,
): Promise<WorkspaceRow> {
  const workspaces = await workspacesOf(tx, ctx.user.id);
  const fixed = fixedWorkspace(request);
  const place = chosen(
    fixed === null ? withinScope(workspaces, ctx.session) : workspaces,
    fixed ?? wanted ?? request.tenant_hint,
    ctx.session,
  );
  if (request.tenant_hint !== null && fixed !== null && request.tenant_hint.toLowerCase() !== place.slug)
    throw new Refusal('not_a_member', `This application doesn't belong to the workspace ${request.tenant_hint}.`);
  await assertMayLogIn(tx, ctx, place, request.app.is_cli);
  await assertTakesUrlClient(tx, request, place);
  return place;
}

/** The only workspace that the login can be in, by ID or slug: the client's own, or that of the MCP server it is for. */
export const fixedWorkspace = (request: PendingRequest): string | null => request.tenant_id ?? namedWorkspace(request);

/** Writes the consent in one transaction: the person's proof is taken, the request is over, and the code stands for it. */
async function grant(ctx: SignedInCtx, request: PendingRequest, place: WorkspaceRow, offer: Offer): Promise<string> {
  const sandbox = request.app.row?.sandbox ?? request.sandbox;
  const { code, tell } = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    const call = await proveConsent(tx, ctx, offer);
    const client_row_id = await clientRowOf(tx, call, request, { tenant_id: place.id, sandbox });
    await closeRequest(tx, request, { tenant_id: place.id, client_row_id, now: ctx.now });
    const client = await tx.oauth_clients.findUniqueOrThrow({ where: { id: client_row_id }, select: { client_id: true, name: true } });
    const granted = {
      tenant_id: place.id,
      sandbox,
      client_row_id,
      user_id: ctx.user.id,
      scopes: offer.scopes,
      step_up_at: call.step_up ? ctx.now : null,
      family_id: newId(),
      now: ctx.now,
    };
    const text = await issueCode(tx, request, granted);
    await rememberConsent(tx, request, granted);
    await auditGrant(tx, call, granted, {
      action: 'create',
      resource_id: granted.family_id,
      name: client.name,
      details: { flow: 'code', client_id: client.client_id, scopes: offer.scopes, redirect_host: redirectHost(request.redirect_uri) },
    });
    return { code: text, tell: await tellOfGrant(tx, ctx, { ...granted, client: client.name, workspace: place.name }) };
  });
  tell();
  return codeAddress(request, code);
}

/** The stored client: a registered one, or the workspace's own row of the command line or of a client that is known by an address. */
async function clientRowOf(
  tx: Tx,
  ctx: SignedInCtx,
  { app }: PendingRequest,
  place: { tenant_id: string; sandbox: boolean },
): Promise<string> {
  if (app.row) return app.row.id;
  if (!app.document) return (await cliClientOf(tx, { ...place, now: ctx.now })).id;
  const { id, entry } = await urlClientOf(tx, app.document, { ...place, now: ctx.now });
  if (entry) await auditOf(tx, ctx, place, entry);
  return id;
}

async function deny(ctx: SignedInCtx, request: PendingRequest, workspace: string | null): Promise<{ location: string }> {
  // The command line may be denied by somebody who is a member of nothing: then there is no log to write it to.
  const place = await placeOf(ctx, request, workspace).catch(() => null);
  return closedWith(ctx, request, place, 'access_denied', 'The person denied the request.');
}

async function closedWith(
  ctx: SignedInCtx,
  request: PendingRequest,
  place: WorkspaceRow | null,
  error: 'access_denied',
  description: string,
): Promise<{ location: string }> {
  await ctx.db.$transaction(async (tx) => {
    await closeRequest(tx, request, { now: ctx.now });
    if (!place) return;
    await auditGrant(
      tx,
      ctx,
      { tenant_id: place.id, sandbox: request.app.row?.sandbox ?? request.sandbox },
      {
        action: 'dismiss',
        resource_id: null,
        name: request.app.name,
        reason: description,
        details: {
          flow: 'code',
          client_id: request.app.row?.client_id ?? request.document?.client_id ?? CLI_ALIAS,
          scopes: request.scopes,
          redirect_host: redirectHost(request.redirect_uri),
        },
      },
    );
  });
  return { location: errorAddress(request, error, description) };
}

/** An entry about a grant, by the person, in the space of the client. */
export const auditGrant = (
  tx: Tx,
  ctx: SignedInCtx,
  place: { tenant_id: string; sandbox: boolean },
  entry: Omit<AuditEntry, 'resource_type'>,
): Promise<void> => auditOf(tx, ctx, place, { ...entry, resource_type: 'oauth_grant' });

const auditOf = (tx: Tx, ctx: SignedInCtx, place: { tenant_id: string; sandbox: boolean }, entry: AuditEntry): Promise<void> =>
  writeAudit(
    tx,
    auditCtx(ctx, { id: ctx.user.id, email: ctx.user.email, session_id: ctx.session.id }, place.tenant_id, place.sandbox),
    entry,
  );

export const beyondRole = ({ missing }: Offer): string =>
  missing.length === 0
    ? 'There is nothing that this client may be granted.'
    : `The role of the person in this workspace doesn't include ${missing.join(' ')}.`;
