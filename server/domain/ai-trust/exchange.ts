import { canonicalJson } from '#server/crypto/canonical-json.ts';
import { TokenRefused, unverifiedIssuer, useDigest, type WorkloadClaims } from '#server/crypto/workload-token.ts';
import { insertToken } from '#server/domain/ai-gateways/service.ts';
import type { TokenKind, TokenScope } from '#server/domain/ai-gateways/tokens.schema.ts';
import { apiUrl, routeUrls } from '#server/domain/tenants/addresses.ts';
import { isServableStatus } from '#server/domain/tenants/schema.ts';
import { type Ctx, type Space, spaceOf } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { IssuerFault, type KeySource, keySource, verifiedWorkload } from '#server/platform/connect/issuer-keys.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { recordRefusal } from './refusals.ts';
import { judgedRules } from './rules.ts';
import type { ClaimRule } from './schema.ts';

// The exchange of a job's identity token for a capability token (interface rule 50 §6.9). The caller proves nothing but the token; the workspace is that of
// the host it asks, so unlike an exchange for the Management API no other workspace can be meant.

export type CapabilityExchange = {
  /** Of the host that was asked. */
  tenant_slug: string;
  space: Space;
  subject_token: string;
  /** Names an MCP server: the token is for its tools alone. */
  resource: string | null;
  request_id: string;
  ip: string | null;
  user_agent: string | null;
  now: Date;
};

export type Exchanged = { access_token: string; expires_in: number; scope: string };

/** What the caller is told: an OAuth error and its description. */
export class AiExchangeRefused extends Error {
  readonly error: 'invalid_grant' | 'invalid_target' | 'invalid_request';
  constructor(error: AiExchangeRefused['error'], description: string) {
    super(description);
    this.name = 'AiExchangeRefused';
    this.error = error;
  }
}

type Means = { source?: KeySource; database?: Db };
type Binding = {
  id: string;
  name: string;
  tenant_id: string;
  sandbox: boolean;
  claim_rules: ClaimRule[];
  gateway_id: string;
  agent_id: string | null;
  kind: TokenKind;
  scope: TokenScope;
  token_ttl_seconds: number;
};

const NOT_ACCEPTED = 'The subject token is not accepted. The audit log of the workspace says why.';

/** @throws AiExchangeRefused; anything else means that a store is away, and nothing was minted */
export async function exchangeForCapability(
  asked: CapabilityExchange,
  { source = keySource(), database = db() }: Means = {},
): Promise<Exchanged> {
  const { subject_token, now } = asked;
  const issuer = unverifiedIssuer(subject_token);
  const bindings = issuer === null ? [] : await bindingsFor(asked, issuer);
  const [any] = bindings;
  if (issuer === null || !any)
    throw new AiExchangeRefused('invalid_grant', 'No binding of this workspace trusts the issuer of the subject token.');
  const ctx = contextOf(asked, any, database);
  const refuse = async (
    reason: string,
    claims?: WorkloadClaims,
    binding?: Binding,
    refusal = new AiExchangeRefused('invalid_grant', NOT_ACCEPTED),
  ) => {
    await recordRefusal(ctx, { reason, issuer, claims, binding: binding ?? (bindings.length === 1 ? any : null) });
    return refusal;
  };
  let claims: WorkloadClaims;
  try {
    claims = await verifiedWorkload(source, subject_token, now);
  } catch (error) {
    if (!(error instanceof TokenRefused || error instanceof IssuerFault)) throw error;
    throw await refuse(error.reason);
  }
  const binding = bindings.find(({ claim_rules }) => judgedRules(claim_rules, claims).every(({ matches }) => matches));
  if (!binding) throw await refuse('no_match', claims);
  const target = asked.resource === null ? null : await targetOf(asked, asked.resource, binding);
  if (target === null && binding.agent_id === null)
    throw new AiExchangeRefused('invalid_target', 'resource is required: this binding only mints tokens for an MCP server.');
  const minted = await mint(ctx, asked, binding, target, claims);
  if (minted === 'already_exchanged')
    throw await refuse(minted, claims, binding, new AiExchangeRefused('invalid_grant', 'The subject token has already been exchanged.'));
  if (minted === 'disabled') throw await refuse(minted, claims, binding);
  return minted;
}

/** Enabled bindings of the host's workspace and space for this issuer, newest first. None of a workspace that isn't served. */
async function bindingsFor({ tenant_slug, space }: CapabilityExchange, issuer: string): Promise<Binding[]> {
  const { rows } = await sql().query<Binding & { subscription_status: string }>({
    name: 'ai-oidc-bindings',
    text: `select b.id, b.name, b.tenant_id, b.sandbox, b.claim_rules, b.gateway_id, b.agent_id, b.kind, b.scope, b.token_ttl_seconds, t.subscription_status
      from ai_oidc_bindings b join tenants t on t.id = b.tenant_id
      where t.slug = $1 and t.deleted_at is null and b.sandbox = $2 and b.issuer = $3 and b.enabled order by b.created_at desc, b.id desc`,
    values: [tenant_slug, space === 'test', issuer],
  });
  return rows.filter(({ subscription_status }) => isServableStatus(subscription_status));
}

/** The resource that the token is bound to, when it names a server of the binding's gateway. @throws AiExchangeRefused invalid_target */
async function targetOf(
  { tenant_slug, space }: CapabilityExchange,
  resource: string,
  { tenant_id, sandbox, gateway_id }: Binding,
): Promise<string> {
  const unknown = () => new AiExchangeRefused('invalid_target', 'resource names no MCP server of this gateway.');
  const bases = [...routeUrls(tenant_slug, space).map((base) => `${base}/v1/mcp/`), `${apiUrl(space)}/mcp/`];
  const base = bases.find((one) => resource.startsWith(one));
  const slug = base === undefined ? '' : resource.slice(base.length).replace(/\/$/, '');
  if (slug === '') throw unknown();
  const { rows } = await sql().query({
    name: 'ai-exchange-target',
    text: "select 1 from mcp_servers where tenant_id = $1 and sandbox = $2 and gateway_id = $3 and slug = $4 and status <> 'archived'",
    values: [tenant_id, sandbox, gateway_id, slug],
  });
  if (rows.length === 0) throw unknown();
  return `${base}${slug}`;
}

/** Uses the identity token up and mints, in one transaction with the audit entry: of many at once one wins. */
async function mint(
  ctx: Ctx,
  { subject_token, now }: CapabilityExchange,
  binding: Binding,
  target: string | null,
  claims: WorkloadClaims,
): Promise<Exchanged | 'already_exchanged' | 'disabled'> {
  let outcome: 'already_exchanged' | 'disabled' = 'disabled';
  return mutate(ctx, async (tx) => {
    outcome = 'disabled';
    if (!(await stillTrusted(tx, binding))) throw new NotMinted();
    outcome = 'already_exchanged';
    if (!(await markUsed(tx, ctx, binding, subject_token, claims.exp))) throw new NotMinted();
    const tool = target !== null;
    const made = await insertToken(tx, ctx, {
      gateway_id: binding.gateway_id,
      agent_id: tool ? null : binding.agent_id,
      name: `${binding.name}: ${claims.sub}`.slice(0, 100),
      kind: tool ? 'tool' : binding.kind,
      scope: tool ? { ...binding.scope, resource: target } : binding.scope,
      dpop_jkt: null,
      lifetime_seconds: binding.token_ttl_seconds,
      origin: 'exchange',
      oidc_binding_id: binding.id,
      created_by: null,
    });
    await tx.$executeRaw`update ai_oidc_bindings set use_count = use_count + 1, last_used_at = ${now}, last_subject = ${claims.sub.slice(0, 255)} where id = ${binding.id}::uuid`;
    const { token, scope } = made.answer;
    const details = {
      ...made.entry.details,
      issuer: claims.iss,
      subject: claims.sub.slice(0, 255),
      binding_id: binding.id,
      ...(typeof claims.jti === 'string' ? { jti: claims.jti.slice(0, 255) } : {}),
    };
    return audited({ access_token: token, expires_in: binding.token_ttl_seconds, scope: canonicalJson(scope) }, { ...made.entry, details });
  }).catch((error: unknown) => {
    if (error instanceof NotMinted) return outcome;
    throw error;
  });
}

/** Rolls the transaction back. */
class NotMinted extends Error {}

/** Whoever ends the binding, its gateway or its agent waits for this, and then finds the token to revoke. */
async function stillTrusted(tx: Tx, { id, gateway_id, agent_id }: Binding): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    select 1 from ai_oidc_bindings b join ai_gateways g on g.id = ${gateway_id}::uuid left join ai_agents a on a.id = b.agent_id
    where b.id = ${id}::uuid and b.enabled and g.status <> 'archived' and (${agent_id}::uuid is null or a.status <> 'archived') for no key update of b`;
  return found.length === 1;
}

/** Kept for a day beyond the token's end. @returns false when it was exchanged before */
async function markUsed(tx: Tx, { tenant_id, sandbox }: Ctx, { id }: Binding, token: string, exp: number): Promise<boolean> {
  const marked = await tx.$executeRaw`
    insert into ai_exchange_claims (hash, tenant_id, sandbox, binding_id, expires_at)
    values (${new Uint8Array(useDigest(token))}, ${tenant_id}::uuid, ${sandbox}, ${id}::uuid, to_timestamp(${exp + 86_400}))
    on conflict (hash) do nothing`;
  return marked === 1;
}

function contextOf({ request_id, ip, user_agent, now }: CapabilityExchange, { tenant_id, sandbox }: Binding, database: Db): Ctx {
  return {
    db: database,
    ...{ tenant_id, sandbox, request_id, ip, user_agent, now },
    actor: { type: 'anonymous', id: null, label: `Token exchange (${spaceOf(sandbox)})`, capabilities: new Set() },
    plan: 'enterprise', // no plan gates an exchange
    warnings: [],
  };
}
