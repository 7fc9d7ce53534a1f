import { insertKey } from '#server/domain/api-keys/service.ts';
import { acceptChain, OPERATOR_CHAIN, verifyAllChains } from '#server/domain/audit-logs/service.ts';
import { rotateRootKey, rotateTenantKey } from '#server/domain/keys/service.ts';
import { canonicalEmail, createSession } from '#server/domain/people/service.ts';
import { LIMITS, type LimitKey, PLANS, type PlanName } from '#server/domain/plans/schema.ts';
import { hostLabel, proxyUrl } from '#server/domain/tenants/addresses.ts';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { isUuid, label } from '#server/kernel/fields.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { audit, bySlug, fitting, movePlan, oneOf, operatorCtx, refuse, STATUSES } from './acting.ts';

/**
 * What the operator of a deployment may do from its own machine (interface rule 20 §7a): never reachable over HTTP, every act audited in the
 * workspace it touches with actor type operator. All of it works while the service runs.
 */
export { operatorCtx } from './acting.ts';
export { knowAgentBuild } from './agent-builds.ts';
export { verifyDomain } from './domains.ts';
export { resetFactors } from './factors.ts';
export { setMember } from './members.ts';
export { provisionTenant } from './provisioning.ts';

/** Moves a workspace to a plan or status. `deliberate` marks a downgrade the customer asked for: Enterprise connectors stop. */
export function setPlan(input: { slug: string; plan?: string; status?: string; deliberate?: boolean }) {
  if (input.plan === undefined && input.status === undefined) throw refuse('set-plan requires --plan or --status');
  return db().$transaction(async (tx) => {
    const tenant = await bySlug(tx, input.slug);
    const plan = oneOf(PLANS, input.plan ?? tenant.subscription_plan, '--plan');
    const status = oneOf(STATUSES, input.status ?? tenant.subscription_status, '--status');
    await movePlan(tx, tenant, plan, status, input.deliberate ?? false);
    return { slug: tenant.slug, plan, status };
  });
}

/** Suspension is a pause only the operator ends (interface rule 20 §5). */
export const suspend = (input: { slug: string }) => setPauseByOperator(input.slug, true);
export const resume = (input: { slug: string }) => setPauseByOperator(input.slug, false);

/** For a workspace whose members have shut themselves out (interface rule 22 §11). */
export const clearAllowlist = ({ slug }: { slug: string }) =>
  db().$transaction(async (tx) => {
    const tenant = await bySlug(tx, slug);
    const { dashboard_ip_allowlist: from = [], ...settings } = tenant.settings as { dashboard_ip_allowlist?: string[] };
    await tx.tenants.update({ where: { id: tenant.id }, data: { settings }, select: { id: true } });
    await audit(tx, tenant.id, {
      action: 'update',
      resource_type: 'tenant',
      resource_id: tenant.id,
      name: tenant.name,
      changes: [{ field: 'dashboard_ip_allowlist', from, to: [] }],
    });
    return { slug, removed: from.length };
  });

/** What the column holds. */
const MOST = 2_147_483_647;

/** An override of one plan limit; null = unlimited, `remove` returns to the plan's number. */
export function setLimit(input: { slug: string; kind: string; value: number | null; remove?: boolean; reason?: string }) {
  if (input.value !== null && input.value > MOST) throw refuse(`--value must be at most ${MOST}, or unlimited`);
  return db().$transaction(async (tx) => {
    const tenant = await bySlug(tx, input.slug);
    const kind = oneOf(Object.keys(LIMITS) as LimitKey[], input.kind, '--kind');
    const where = { tenant_id_kind: { tenant_id: tenant.id, kind } };
    const data = { value: input.value, reason: input.reason ?? null };
    if (input.remove) await tx.tenant_limit_overrides.deleteMany({ where: { tenant_id: tenant.id, kind } });
    else await tx.tenant_limit_overrides.upsert({ where, create: { tenant_id: tenant.id, kind, ...data }, update: data });
    await audit(tx, tenant.id, {
      action: 'update',
      resource_type: 'billing',
      resource_id: tenant.id,
      details: { limit: kind, to: input.remove ? 'plan' : input.value, reason: input.reason },
    });
    return { slug: tenant.slug, kind, value: input.remove ? 'plan' : input.value };
  });
}

/** A key of a seeded role; its text is in the answer and nowhere else. */
export function createKey(input: { slug: string; space: string; role?: string; name?: string }) {
  const space = oneOf(['live', 'test'] as const, input.space, '--space');
  const role = KEY_ROLES.find((r) => r.name.toLowerCase() === (input.role ?? 'Key - Editor').toLowerCase());
  if (!role) throw refuse(`--role must be one of: ${KEY_ROLES.map((r) => r.name).join(', ')}`);
  const name = input.name === undefined ? 'operator' : fitting(label(100), input.name, '--name');
  return db().$transaction(async (tx) => {
    const tenant = await bySlug(tx, input.slug);
    const ctx = operatorCtx(tenant.id, space);
    const key = await insertKey(tx, ctx, {
      name,
      access: false,
      role_ids: [role.id],
      scopes: null,
      expires_at: null,
      ip_allowlist: [],
      rate_limit_requests: null,
      rate_limit_window_sec: null,
    });
    await audit(
      tx,
      tenant.id,
      { action: 'create', resource_type: 'api_key', resource_id: key.id, name: key.name, details: { key_id: key.key_id, role: role.name } },
      space,
    );
    return {
      id: key.id,
      key_id: key.key_id,
      api_key: key.api_key,
      space,
      role: role.name,
      host: `${hostLabel(tenant.slug, space)}.${env.PROXY_BASE_HOST}`,
      proxy_url: proxyUrl(tenant.slug, space),
    };
  });
}

/** A dashboard session without a password, for support and tests. Production wants an explicit yes. */
export function openSession(input: { email: string; mfa?: boolean; i_understand?: boolean }) {
  if (env.NODE_ENV === 'production' && !input.i_understand)
    throw refuse('create-session signs in as another person; in production, add --i-understand');
  return db().$transaction(async (tx) => {
    const user = await tx.users.findUnique({ where: { email: canonicalEmail(input.email) } });
    if (!user) throw new Refusal('not_found', `No person has the address ${input.email}.`);
    const now = new Date();
    const session = await createSession(tx, {
      user_id: user.id,
      mfa: Boolean(input.mfa),
      methods: input.mfa ? ['operator', 'mfa'] : ['operator'],
      keep: false,
      ip: null,
      user_agent: 'operator',
      now,
    });
    const memberships = await tx.memberships.findMany({ where: { user_id: user.id, removed_at: null } });
    for (const m of memberships)
      await audit(tx, m.tenant_id, {
        action: 'login',
        resource_type: 'session',
        resource_id: session.id,
        name: user.email,
        details: { method: 'operator' },
      });
    return { token: session.token, email: user.email, expires_at: session.expires_at };
  });
}

/** Every workspace with plan, status and row counts. */
export async function listTenants() {
  const tenants = await db().tenants.findMany({ orderBy: { created_at: 'asc' } });
  const counts = await db().row_counts.findMany();
  return tenants.map((t) => ({
    slug: t.slug,
    name: t.name,
    plan: t.subscription_plan,
    status: t.subscription_status,
    created_at: t.created_at,
    counts: Object.fromEntries(
      counts
        .filter((c) => c.tenant_id === t.id && c.kind !== 'audit_logs')
        .map((c) => [`${c.sandbox ? 'test' : 'live'}.${c.kind}`, Number(c.n)]),
    ),
  }));
}

/** A new master key for one workspace; its data is re-wrapped in the background (interface rule 31 §6). */
export async function rotateKeyOf(input: { slug: string }) {
  const tenant = await db().tenants.findUnique({ where: { slug: input.slug } });
  if (!tenant) throw new Refusal('not_found', `No workspace has the slug ${input.slug}.`);
  return { slug: tenant.slug, ...(await rotateTenantKey(operatorCtx(tenant.id, 'live'))) };
}

/** Moves every tenant key to the current root key; may be stopped and run again (interface rule 31 §3). */
export const rotateRoot = () => rotateRootKey();

/** The verdict on every critical chain; a failed one by its workspace, with the first row that does not hold. */
export async function verifyChains() {
  const { checked, failed } = await verifyAllChains();
  const tenants = await db().tenants.findMany({
    where: { id: { in: failed.map((f) => f.chain_id).filter((id) => isUuid(id)) } },
    select: { id: true, slug: true },
  });
  return { checked, failed: failed.map((f) => ({ slug: tenants.find((t) => t.id === f.chain_id)?.slug ?? null, ...f })) };
}

/**
 * Accepts the critical chain of a workspace, or of the operator, as it is now: what failed is recorded in the chain itself, and verification begins anew behind
 * that entry. @throws Refusal not_found, conflict when the chain holds
 */
export async function acceptChainOf({ slug, reason }: { slug: string; reason: string }) {
  if (slug === OPERATOR_CHAIN) return { slug, ...(await acceptChain(operatorCtx('', 'live'), { reason })) };
  const tenant = await db().tenants.findUnique({ where: { slug }, select: { id: true } });
  if (!tenant) throw new Refusal('not_found', `No workspace has the slug ${slug}.`);
  return { slug, ...(await acceptChain(operatorCtx(tenant.id, 'live'), { reason })) };
}

function setPauseByOperator(slug: string, paused: boolean) {
  return db().$transaction(async (tx) => {
    const tenant = await bySlug(tx, slug);
    if (!paused && !(tenant.subscription_status === 'paused' && tenant.pause_reason === 'operator'))
      throw new Refusal('conflict', "The operator hasn't suspended this workspace.");
    const status = paused ? 'paused' : 'active';
    await movePlan(tx, tenant, tenant.subscription_plan as PlanName, status, false);
    return { slug, status };
  });
}
