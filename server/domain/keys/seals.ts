import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { type DomainEvent, raise } from '#server/domain/events/service.ts';
import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { takeStepUp } from '#server/kernel/step-up.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { keyring } from '#server/platform/keys.ts';
import { KmsFailure } from '#server/platform/kms/kms.ts';
import { probeKms, unwrapAt } from '#server/platform/kms/provider.ts';
import { sealTenant } from '#server/platform/kms/seal.ts';
import { log } from '#server/platform/log.ts';
import { addJob } from '#server/platform/queue.ts';
import { sql } from '#server/platform/sql.ts';
import { tenantSealed, tenantUnsealed } from './letters.ts';
import { describeFailure, noConfig, probeFailed } from './rotation.ts';
import { activeRow, placeOf } from './versions.ts';

const configOf = (ctx: Ctx) => read(ctx, (tx) => tx.tenant_kms_configs.findUnique({ where: { tenant_id: ctx.tenant_id } }));

/**
 * Asks the KMS for the key in use, and unseals the workspace when it gives it (interface rule 31 §7.4).
 * @throws Refusal no_kms_config, not_sealed, key_revoked, unseal_failed with its reason, audit_unavailable
 */
export async function unsealTenant(ctx: Ctx) {
  const config = await configOf(ctx);
  if (!config) throw noConfig();
  if (!config.sealed_since) throw new Refusal('not_sealed', 'This workspace is not sealed.');
  if (config.sealed_reason === 'key_revoked')
    throw new Refusal('key_revoked', "The key in use was revoked for good. What it wrapped can't be opened again.");
  await openActive(ctx.tenant_id).catch(async (error: unknown) => {
    if (!(error instanceof KmsFailure)) throw error;
    await noteFailure(ctx.tenant_id, error);
    throw new Refusal('unseal_failed', `The KMS ${describeFailure(error)}. Restore access to the key, then try again.`, {
      extra: { reason: error.reason },
      cause: error,
    });
  });
  await inTransaction(ctx, async (tx) => {
    await takeStepUp(tx, ctx);
    await unseal(tx, ctx, 'person');
  });
  keyring().evict(ctx.tenant_id);
  await addJob(null, 'poll_sealed', {}, { job_key: 'poll_sealed' }).catch(() => {}); // tells the Owners; the minute job does otherwise
  return { unsealed: true as const };
}

/** Wraps and unwraps random bytes with the configured key; nothing else changes (interface rule 31 §7.7). @throws Refusal no_kms_config, kms_probe_failed */
export async function verifyTenantKms(ctx: Ctx) {
  const config = await configOf(ctx);
  if (!config) throw noConfig();
  const failure = await probeKms(placeOf(config), ctx.tenant_id).then(
    () => null,
    (error: unknown) => {
      if (error instanceof KmsFailure) return error;
      throw error;
    },
  );
  await mutate(ctx, async (tx) => {
    const data = failure
      ? { last_verify_error: `${failure.reason}: ${failure.detail}` }
      : { last_verified_at: ctx.now, ...(config.sealed_since ? {} : { last_verify_error: null }) };
    await tx.tenant_kms_configs.updateMany({ where: { tenant_id: ctx.tenant_id }, data });
    return audited(undefined, {
      action: 'update',
      resource_type: 'tenant_kms_config',
      resource_id: ctx.tenant_id,
      details: failure ? { verified: false, reason: failure.reason } : { verified: true },
      workspace_level: true,
    });
  });
  if (failure) throw probeFailed(failure);
  return { verified: true as const };
}

/** @throws KmsFailure */
async function openActive(tenantId: string): Promise<void> {
  const row = await activeRow(tenantId);
  if (!row?.wrapped_key || !row.kms) return; // the service's own key is in use: it needs no KMS
  (await unwrapAt(row.kms, { tenantId, version: row.version }, row.wrapped_key)).fill(0);
}

async function unseal(tx: Tx, ctx: Ctx, trigger: 'person' | 'auto'): Promise<boolean> {
  const { count } = await tx.tenant_kms_configs.updateMany({
    where: { tenant_id: ctx.tenant_id, sealed_since: { not: null }, sealed_reason: { not: 'key_revoked' } },
    data: { sealed_since: null, sealed_reason: null, last_verify_error: null, last_verified_at: ctx.now, polled_at: ctx.now },
  });
  if (count === 0) return false; // somebody else was faster
  await appendCritical(tx, ctx, {
    action: 'byok.kms.unseal',
    resource_type: 'tenant_kms_config',
    resource_id: ctx.tenant_id,
    details: { trigger },
  });
  return true;
}

const noteFailure = (tenantId: string, { reason, detail }: KmsFailure) =>
  sql().query('update tenant_kms_configs set last_verify_error = $2 where tenant_id = $1 and sealed_since is not null', [
    tenantId,
    `${reason}: ${detail}`,
  ]);

type Due = { tenant_id: string; sealed: boolean };
const AT_ONCE = 20;

/**
 * Asks the KMSs of sealed workspaces again, every 30 s, and unseals those that answer; asks those of the others once in the time that a key may be cached, so that
 * a grant that was taken away shows without traffic (interface rule 31 §9). Tells the Owners what changed. @returns how many were sealed and unsealed
 */
export async function pollSealed(now = new Date()): Promise<{ asked: number; unsealed: number; sealed: number }> {
  const counts = { asked: 0, unsealed: 0, sealed: 0 };
  for (let due = await claimDue(); due.length > 0; due = await claimDue()) {
    counts.asked += due.length;
    await Promise.all(due.map((each) => poll(each, now, counts)));
    if (due.length < AT_ONCE) break;
  }
  await tellOwners(now);
  await scheduleNext();
  return counts;
}

/** Of several workers each asks about other workspaces. */
async function claimDue(): Promise<Due[]> {
  const { rows } = await sql().query<Due>(
    `update tenant_kms_configs set polled_at = now() where tenant_id in (
       select c.tenant_id from tenant_kms_configs c join tenants t on t.id = c.tenant_id
       where t.deleted_at is null and not c.leaving and coalesce(c.sealed_reason, '') <> 'key_revoked'
         and coalesce(c.polled_at, c.created_at) <= now() - make_interval(secs => case when c.sealed_since is null then $1::int else $2::int end)
       order by c.sealed_since nulls last limit ${AT_ONCE} for update of c skip locked)
     returning tenant_id, sealed_since is not null as sealed`,
    [env.KMS_CACHE_SECONDS, env.KMS_POLL_SECONDS],
  );
  return rows;
}

async function poll({ tenant_id, sealed }: Due, now: Date, counts: { unsealed: number; sealed: number }): Promise<void> {
  try {
    await openActive(tenant_id);
    if (sealed) {
      const ctx = systemContext(db(), { tenant_id, now, label: 'unseal' });
      if (await inTransaction(ctx, (tx) => unseal(tx, ctx, 'auto'))) counts.unsealed++;
      keyring().evict(tenant_id);
    } else
      await sql().query(
        'update tenant_kms_configs set last_verified_at = now(), last_verify_error = null where tenant_id = $1 and sealed_since is null',
        [tenant_id],
      );
  } catch (error) {
    if (!(error instanceof KmsFailure)) return log.error({ err: error, tenant_id }, 'cannot ask the KMS of a workspace');
    if (sealed) await noteFailure(tenant_id, error);
    else {
      const row = await activeRow(tenant_id);
      if (row && (await sealTenant(tenant_id, row.version, error))) counts.sealed++;
    }
  }
}

/** A mail and an event for each change of state that the Owners don't know yet. */
async function tellOwners(now: Date): Promise<void> {
  const changed = await db().tenant_kms_configs.findMany({
    where: {
      OR: [
        { sealed_since: { not: null }, told_sealed: false },
        { sealed_since: null, told_sealed: true },
      ],
    },
    select: { tenant_id: true },
    take: 500,
  });
  for (const { tenant_id } of changed) {
    try {
      for (const id of await tell(tenant_id, now)) dispatch(db(), id);
    } catch (error) {
      log.error({ err: error, tenant_id }, 'cannot tell the Owners that a workspace was sealed or unsealed; it is tried again');
    }
  }
}

const tell = (tenant_id: string, now: Date): Promise<string[]> =>
  db().$transaction(async (tx) => {
    await tx.$queryRaw`select 1 from tenant_kms_configs where tenant_id = ${tenant_id}::uuid for update`;
    const config = await tx.tenant_kms_configs.findUnique({ where: { tenant_id } });
    const workspace = await tx.tenants.findUnique({ where: { id: tenant_id }, select: { name: true, slug: true, deleted_at: true } });
    if (!config || !workspace || (config.sealed_since !== null) === config.told_sealed) return [];
    await tx.tenant_kms_configs.update({
      where: { tenant_id },
      data: { told_sealed: config.sealed_since !== null },
      select: { tenant_id: true },
    });
    if (workspace.deleted_at) return [];
    const url = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/settings/keys`;
    const letter = config.sealed_since
      ? tenantSealed({ workspace: workspace.name, error: config.last_verify_error ?? 'no answer', since: config.sealed_since, url })
      : tenantUnsealed({ workspace: workspace.name, url });
    await raise(tx, { tenant_id, sandbox: false, now }, [eventOf(config)]);
    return postTeamMails(tx, { tenant_id, kind: 'kms', letter, now });
  });

const eventOf = ({ tenant_id, sealed_since }: { tenant_id: string; sealed_since: Date | null }): DomainEvent => ({
  type: sealed_since ? 'tenant.sealed' : 'tenant.unsealed',
  source_id: tenant_id,
  data: {},
});

/** Cron starts the poll each minute; while it must run oftener it comes back by itself. */
async function scheduleNext(): Promise<void> {
  const { rows } = await sql().query<{ sealed: boolean | null }>(
    "select bool_or(sealed_since is not null and sealed_reason <> 'key_revoked') as sealed from tenant_kms_configs where not leaving",
  );
  const sealed = rows[0]?.sealed ?? null;
  const seconds = sealed === null ? null : sealed ? env.KMS_POLL_SECONDS : env.KMS_CACHE_SECONDS;
  if (seconds !== null && seconds < 60)
    await addJob(null, 'poll_sealed', {}, { job_key: 'poll_sealed', run_at: new Date(Date.now() + seconds * 1000) }).catch(
      (error: unknown) => log.warn({ err: error }, 'cannot queue the next poll of sealed workspaces; the minute job starts it'),
    );
}
