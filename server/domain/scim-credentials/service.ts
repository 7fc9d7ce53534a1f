import { mintToken } from '#server/crypto/tokens.ts';
import { dispatch } from '#server/domain/mail/service.ts';
import { planFeature } from '#server/domain/plans/schema.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { env } from '#server/platform/env.ts';
import { mailCredentialCreated } from './notices.ts';
import type { ScimPlan, ScimSpace } from './schema.ts';

export { latestCalls, recordScimCall } from './calls.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MOST_ACTIVE = 5;
const SHOWN = 'scim_'.length + 6;

type Row = NonNullable<Awaited<ReturnType<Tx['scim_credentials']['findFirst']>>>;
type Workspace = { subscription_plan: string; subscription_status: string; enterprise_ended_by: string | null };

const view = ({ created_by, creator_label, ...row }: Row) => ({
  ...row,
  space: row.space as ScimSpace,
  created_by: { id: created_by, label: creator_label },
});

/**
 * The address that a directory is given, and whether the plan allows it. Workspaces without a host of their own use the host of the dashboard, where the
 * credential names the workspace.
 */
export const scimStatus = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const tenant = await workspaceOf(tx, ctx);
    const base = env.PROXY_PATH_MODE ? env.PUBLIC_ADMIN_URL : proxyUrl(tenant.slug, 'live');
    return { base_url: `${base}/scim/v2`, plan: planOf(tenant) };
  });

/** All credentials of the workspace, of both spaces, the newest first. @throws Refusal operator_custody_blocked */
export async function listCredentials(ctx: Ctx) {
  assertNoOperator(ctx);
  const rows = await read(ctx, (tx) =>
    tx.scim_credentials.findMany({ where: { tenant_id: ctx.tenant_id }, orderBy: [{ created_at: 'desc' }, { id: 'desc' }] }),
  );
  return rows.map(view);
}

/** @throws Refusal scim_plan_required, validation_error, conflict when a space has its five, operator_custody_blocked */
export async function createCredential(ctx: Ctx, input: { name: string; expires_at: string; space: ScimSpace }) {
  assertNoOperator(ctx);
  const expires_at = new Date(input.expires_at);
  const left = expires_at.getTime() - ctx.now.getTime();
  // A minute of grace for the time that a form takes.
  if (left < HOUR - 60_000 || left > 366 * DAY) throw invalid('expires_at', 'must be between one hour and 366 days from now');
  let mails: string[] = [];
  const created = await mutate(ctx, async (tx) => {
    if (planOf(await workspaceOf(tx, ctx)) !== 'available')
      throw new Refusal('scim_plan_required', 'SCIM provisioning takes a current Enterprise plan.');
    await holdLock(tx, `${ctx.tenant_id}:scim-credentials`);
    const active = await tx.scim_credentials.count({
      where: { tenant_id: ctx.tenant_id, space: input.space, revoked_at: null, expires_at: { gt: ctx.now } },
    });
    if (active >= MOST_ACTIVE)
      throw new Refusal('conflict', `A workspace can have at most ${MOST_ACTIVE} active SCIM credentials per space. Revoke one first.`);
    const { token, digest } = mintToken('scim');
    const row = await tx.scim_credentials.create({
      data: {
        id: newId(),
        tenant_id: ctx.tenant_id,
        space: input.space,
        name: input.name,
        digest: new Uint8Array(digest),
        prefix: `${token.slice(0, SHOWN)}...`,
        created_by: ctx.actor.type === 'member' ? ctx.actor.id : null,
        creator_label: ctx.actor.label,
        created_at: ctx.now,
        expires_at,
      },
    });
    mails = await mailCredentialCreated(tx, ctx, row);
    return audited(
      { credential: view(row), token },
      { action: 'create', ...entryOf(row), details: { prefix: row.prefix, space: row.space, expires_at: expires_at.toISOString() } },
    );
  });
  for (const id of mails) dispatch(ctx.db, id);
  return created;
}

/** Refused on its next call. Idempotent. @throws Refusal not_found, operator_custody_blocked */
export async function revokeCredential(ctx: Ctx, { id }: { id: string }) {
  assertNoOperator(ctx);
  return mutate(ctx, async (tx) => {
    const row = isUuid(id) ? await tx.scim_credentials.findFirst({ where: { id, tenant_id: ctx.tenant_id } }) : null;
    if (!row) throw notFound();
    const { count } = await tx.scim_credentials.updateMany({
      where: { id, revoked_at: null },
      data: { revoked_at: ctx.now, revoked_by: ctx.actor.type === 'member' ? ctx.actor.id : null },
    });
    const answer = { deleted: true as const };
    if (count === 0) return unchanged(answer);
    return audited(answer, { action: 'revoke', ...entryOf(row), details: { prefix: row.prefix, space: row.space } });
  });
}

const entryOf = (row: { id: string; name: string }): Omit<AuditEntry, 'action'> => ({
  resource_type: 'scim_credential',
  resource_id: row.id,
  name: row.name,
  workspace_level: true,
});

const workspaceOf = (tx: Tx, ctx: Ctx) =>
  tx.tenants.findUniqueOrThrow({
    where: { id: ctx.tenant_id },
    select: { slug: true, subscription_plan: true, subscription_status: true, enterprise_ended_by: true },
  });

/** A lapsed or unpaid Enterprise plan keeps what exists; its deliberate end doesn't (interface rule 23 §3). */
export function planOf({ subscription_plan, subscription_status, enterprise_ended_by }: Workspace): ScimPlan {
  if (enterprise_ended_by !== null) return 'ended';
  if (!planFeature(subscription_plan as Ctx['plan'], 'scim')) return 'required';
  return CURRENT.has(subscription_status) ? 'available' : 'lapsed';
}
const CURRENT: ReadonlySet<string> = new Set(['trialing', 'active', 'dunning']);

/** Whoever could make a credential could read and change a customer's people: that is for the workspace alone. */
function assertNoOperator({ actor }: Ctx): void {
  if (actor.type === 'operator')
    throw new Refusal('operator_custody_blocked', "A platform operator can't act on the SCIM credentials of a workspace.");
}
