import { boundAs } from '#server/domain/client-tokens/backing.ts';
import { CAPABILITY_OF } from '#server/domain/client-tokens/minting.ts';
import { attemptFailed, recordRefusal } from '#server/domain/client-tokens/refused-spends.ts';
import { invalidClientToken, usedClientToken } from '#server/domain/client-tokens/spending.ts';
import { denyingPolicy } from '#server/domain/policies/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { type ErrorType, invalid, Refusal } from '#server/kernel/errors.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import { type ClientTokenRow, clientTokens, isBacked } from './credentials/client-token.ts';
import { readCredential } from './credentials/credential-reader.ts';
import type { Edge } from './edge.ts';
import { idempotencyKeyOf } from './idempotency.ts';
import { mergedInput } from './input.ts';
import { execute } from './perform.ts';
import { success, type Wire } from './respond.ts';

// The endpoints that pages and agents call with a client token (interface rule 41 §12). They have a credential and an order of checks of their own.

export const isClientPath = (path: string): boolean => path === '/client' || path.startsWith('/client/');

/** A preflight carries no token, so it says nothing about a binding; the call that follows does (interface rule 41 §12.1). */
export const preflight = (req: Request): Wire => ({
  status: 204,
  body: '',
  headers: {
    ...readableBy(req.headers.get('origin')),
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'authorization, content-type, service-version',
    'access-control-max-age': '600',
  },
});

/** Which page may read an answer. Never with credentials: cookies mean nothing here. */
const readableBy = (origin: string | null): Record<string, string> =>
  origin === null
    ? { vary: VARY }
    : { vary: VARY, 'access-control-allow-origin': origin, 'access-control-expose-headers': 'x-request-id, retry-after' };
const VARY = 'Origin, Accept-Encoding';

/** Spends of one address a minute, in one workspace; checks count by themselves. */
const SPENDS_A_MINUTE = 60;
/** The one verb that spends nothing; all others are named after the action that they spend. */
const CHECK = 'check';

type ClientCall = { req: Request; edge: Edge; headers: Record<string, string> };

/** @throws Refusal for everything but success; `headers` get what a refusal carries as well */
export async function clientAnswer(op: AnyOperation, { req, edge, headers }: ClientCall, body: Uint8Array): Promise<Wire> {
  const verb = op.id.slice(op.id.indexOf('.') + 1);
  const origin = pageOf(req, edge);
  // Only a page of the binding may read even a refusal to tokenize; hosted fields, which check, are of our own origin.
  Object.assign(headers, readableBy(verb === 'tokenize' || verb === CHECK ? null : origin));
  idempotencyKeyOf(req.headers); // judged, and nothing is replayed: a token works once
  const presented = presentedToken(req, () => mergedInput(op, req, {}, body));
  const now = new Date();
  const token = await readCredential([clientTokens], presented, { edge });
  await throttled(
    [
      {
        what: verb === CHECK ? 'client-check' : 'client-spend',
        subject: `${token?.tenant_id ?? 'unknown'} ${network(edge.ip)}`,
        limit: SPENDS_A_MINUTE,
        window_sec: 60,
      },
    ],
    now,
    'rate_limit_exceeded',
  );
  if (!token) throw invalidClientToken();
  if (origin !== null && token.origins.includes(origin)) Object.assign(headers, readableBy(origin));
  const ctx = contextOf(token, edge, origin, now);
  await assertSpendable(ctx, token);
  await assertAction(ctx, token, verb === CHECK ? mergedInput(op, req, {}, body).action : verb);
  await assertOrigin(ctx, token, origin);
  const raw = mergedInput(op, req, {}, body);
  for (const field of ['metadata', 'ttl_seconds'])
    if (raw[field] !== undefined) throw invalid(field, "is your backend's to decide, not the page's");
  const { output, result } = await execute(op, ctx, raw);
  return success(op, output, result, ctx.request_id, ctx.warnings);
}

/** From Authorization, or from the body where a page can't set headers. @throws Refusal authentication_required, invalid_request, invalid_client_token */
function presentedToken(req: Request, input: () => Record<string, unknown>): string {
  const authorization = req.headers.get('authorization') || null;
  if (req.headers.has('x-api-key')) throw invalidClientToken();
  const [, bearer] = (authorization !== null && /^Bearer +(\S+)$/i.exec(authorization.trim())) || [];
  if (authorization !== null && bearer === undefined) throw invalidClientToken();
  const { token } = bearer === undefined ? input() : { token: undefined };
  if (bearer === undefined && (token === undefined || token === ''))
    throw new Refusal('authentication_required', 'Send the client token as "Authorization: Bearer kct_...", or as `token` in the body.', {
      headers: { 'www-authenticate': 'Bearer realm="client"' },
    });
  const text = bearer ?? token;
  if (typeof text !== 'string') throw invalidClientToken();
  return text;
}

const contextOf = (token: ClientTokenRow, edge: Edge, origin: string | null, now: Date): Ctx => ({
  db: db(),
  tenant_id: token.tenant_id,
  sandbox: token.sandbox,
  plan: token.plan,
  actor: {
    type: 'client_token',
    id: token.id,
    label: token.minted_by_label,
    capabilities: new Set([CAPABILITY_OF[token.action]]),
    acts_for: [boundAs(token.backing)],
    minted_by: { type: token.minted_by_type, id: token.minted_by_id, label: token.minted_by_label },
    origin: origin === null ? null : origin.slice(0, 300),
    bound: token,
  },
  request_id: edge.request_id,
  ip: edge.ip,
  user_agent: edge.user_agent,
  now,
  warnings: [],
});

/** Step 2. What ended with the credential, the vault or a policy is like a revoked token. */
async function assertSpendable(ctx: Ctx, token: ClientTokenRow): Promise<void> {
  if (token.consumed_at) return refuse(ctx, usedClientToken());
  if (token.burned_at || token.revoked_at) return refuse(ctx, invalidClientToken());
  if (token.expires_at <= ctx.now)
    return refuse(
      ctx,
      new Refusal('client_token_expired', 'The client token has expired. Ask your backend for a new one.', {
        headers: { 'www-authenticate': 'Bearer realm="client", error="invalid_token"' },
      }),
    );
  const capability = CAPABILITY_OF[token.action];
  const about = token.vault_id ?? token.key_id;
  if (!isBacked(token, capability, ctx.now) || (await denyingPolicy(ctx, capability, about === null ? undefined : { id: about })))
    return refuse(ctx, invalidClientToken());
}

/** Step 3. @throws Refusal client_token_action_mismatch */
async function assertAction(ctx: Ctx, token: ClientTokenRow, action: unknown): Promise<void> {
  if (token.action === action) return;
  await attemptFailed(ctx, token.id);
  return refuse(
    ctx,
    new Refusal('client_token_action_mismatch', `The client token is for ${token.action}. Ask your backend for one for this action.`),
  );
}

/** Where the call comes from. A hosted field, which is of our own origin, sends for the page around it: only its script can send from there. */
function pageOf({ headers }: Request, { space }: Edge): string | null {
  const origin = headers.get('origin');
  const own = space === 'test' ? env.PUBLIC_SANDBOX_API_URL : env.PUBLIC_API_URL;
  return origin === own ? (headers.get('x-svc-parent-origin') ?? origin) : origin;
}

/** Step 4, of tokens that bind pages. A refused page costs nothing: else any page could burn the token. @throws Refusal origin_not_allowed */
async function assertOrigin(ctx: Ctx, token: ClientTokenRow, origin: string | null): Promise<void> {
  if (token.action !== 'tokenize' || (origin !== null && token.origins.includes(origin))) return;
  return refuse(ctx, new Refusal('origin_not_allowed', "The client token isn't for pages of this origin."));
}

async function refuse(ctx: Ctx, refusal: Refusal & { type: ErrorType }): Promise<never> {
  await recordRefusal(ctx, ctx.actor.id as string, refusal.type);
  throw refusal;
}
