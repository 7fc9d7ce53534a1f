import { clientUrlHost } from '#server/domain/oauth-clients/client-url.shared.ts';
import { sanitizedConsentHtml } from '#server/domain/oauth-clients/consent-html.shared.ts';
import { type WorkspaceRow, workspacesOf } from '#server/domain/people/service.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { SCOPE_CATALOGUE } from '#server/kernel/scopes.ts';
import { type AskingApp, type PendingRequest, pendingRequest, tieRequest } from './authorize-requests.ts';
import { beyondRole, fixedWorkspace, needsFreshSignIn, placeOf, skipsPage } from './consent.ts';
import { consentProof } from './consent-proof.ts';
import { type Offer, offerOf, type Wanted } from './offers.ts';
import { redirectPlace } from './redirect-host.ts';
import type { AppView, ConsentPageView, OfferView, PlaceView } from './view.shared.ts';

export type ConsentPage = { state: 'over' } | { state: 'skip' } | { state: 'ask'; view: ConsentPageView };

/** The workspace that the person chose, and the scopes of which a part takes a confirmed login: the operation table says which, and the caller reads it. */
export type PageQuery = { workspace: string | null; confirmed: ReadonlySet<string> };

/** What the consent page shows to the session that opened it first (interface rule 21 §7). */
export async function consentPage(ctx: SignedInCtx, handle: string, { workspace, confirmed }: PageQuery): Promise<ConsentPage> {
  const request = await pendingRequest(ctx.db, handle, ctx.now);
  if (!request || !(await tieRequest(ctx.db, request, ctx.session))) return { state: 'over' };
  if (request.prompt.includes('none') || (workspace === null && (await skipsPage(ctx, request)))) return { state: 'skip' };
  const place = await placeView(
    ctx,
    { ...request, client: request.app },
    {
      fixed: fixedWorkspace(request),
      confirmed,
      of: () => placeOf(ctx, request, workspace),
      resource: request.resource,
    },
  );
  const redirect = redirectPlace(request.redirect_uri);
  return {
    state: 'ask',
    view: {
      ...place,
      app: await appView(ctx, request.app),
      redirect: { ...redirect, verified: redirect.kind === 'web' && (await isVerifiedHost(ctx, request, redirect.host)) },
      space: (request.app.row?.sandbox ?? request.sandbox) ? 'test' : 'live',
      account: { email: ctx.user.email, name: ctx.user.full_name },
      fresh_sign_in: needsFreshSignIn(request, ctx),
    },
  };
}

/** The choice of workspaces and what the login gets; shared with the page of a device. */
export async function placeView(
  ctx: SignedInCtx,
  wanted: Wanted,
  {
    fixed,
    confirmed,
    of,
    resource = null,
  }: { fixed: string | null; confirmed: ReadonlySet<string>; of: () => Promise<WorkspaceRow>; resource?: string | null },
): Promise<PlaceView> {
  const memberships = (await workspacesOf(ctx.db, ctx.user.id)).filter(({ id, slug }) => fixed === null || id === fixed || slug === fixed);
  const workspaces = memberships.map(shown);
  try {
    const place = await of();
    const offer = offerOf(wanted, place);
    return {
      workspaces,
      chosen: shown(place),
      offer: offerView(offer, confirmed, resource),
      problem: null,
      beyond: offer.denied ? beyondRole(offer) : null,
      proof: await consentProof(ctx, offer),
    };
  } catch (error) {
    const { type, message, status } = asRefusal(error);
    if (status >= 500) throw error;
    // Nothing is chosen yet: that is a question, not a problem.
    const undecided = type === 'invalid';
    return { workspaces, chosen: null, offer: null, problem: undecided ? null : message, beyond: null, proof: 'none' };
  }
}

/** Scopes as the person reads them. */
const offerView = ({ scopes, missing, step_up }: Offer, confirmed: ReadonlySet<string>, resource: string | null): OfferView => ({
  scopes: scopes.map((name) => {
    const { title = name, sentence: general = '', risk = 'high' } = SCOPE_CATALOGUE[name] ?? {};
    // The person must see which server it is.
    const sentence = name === 'mcp:tools' && resource !== null ? `Call the tools of ${resource}.` : general;
    return { name, title, sentence, sensitive: risk === 'high', second_factor: step_up.includes(name), confirmed: confirmed.has(name) };
  }),
  missing,
});

const shown = ({ slug, name, role }: WorkspaceRow) => ({ slug, name, role });

export async function appView(ctx: SignedInCtx, { row, name, type, is_cli, document }: AskingApp): Promise<AppView> {
  const template = row
    ? (await ctx.db.oauth_clients.findUnique({ where: { id: row.id }, select: { consent_html_template: true } }))?.consent_html_template
    : null;
  return {
    name,
    type,
    is_cli,
    url_host: document && clientUrlHost(document.client_id),
    html: template ? sanitizedConsentHtml(template) || null : null,
  };
}

/** Whether the workspace that registered the client has proved that the host is its own. Exact: a verified domain says nothing about those below it. */
async function isVerifiedHost(ctx: SignedInCtx, { tenant_id }: PendingRequest, host: string): Promise<boolean> {
  if (tenant_id === null) return false;
  const found = await ctx.db.tenant_domains.findFirst({
    where: { tenant_id, domain: host.toLowerCase(), status: 'verified' },
    select: { id: true },
  });
  return found !== null;
}
