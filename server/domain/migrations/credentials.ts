import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { type Db, inTransaction, type Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { keyring } from '#server/platform/keys.ts';
import type { Grant } from './provider-input.ts';

const DAY = 86_400_000;
const LIFE_MS = 30 * DAY;
/** A day to look at the source again once everything is decided. */
const AFTER_END_MS = DAY;

/** The grant as a row of its own, sealed before the transaction opens. @throws Refusal tenant_sealed */
export async function sealGrant(ctx: Ctx, grant: Grant) {
  const id = newId();
  const bytes = Buffer.from(JSON.stringify(grant), 'utf8');
  try {
    return {
      id,
      ...(await keyring().sealValue(placeOf(ctx, id), bytes).catch(whenSealed)),
      expires_at: new Date(ctx.now.getTime() + LIFE_MS),
    };
  } finally {
    bytes.fill(0);
  }
}

/** The grant of a migration; null once it is wiped or has expired. @throws TenantKeyUnavailable, DecryptFailed */
export async function openGrant(tx: Tx, ctx: Ctx, migrationId: string): Promise<Grant | null> {
  const row = await tx.secret_migration_credentials.findFirst({ where: { ...own(ctx), migration_id: migrationId } });
  const { value_ct, cek_wrapped } = row ?? {};
  if (!row || !value_ct || !cek_wrapped || row.expires_at <= ctx.now) return null;
  const bytes = await keyring().openValue(placeOf(ctx, row.id), { value_ct, cek_wrapped, tmk_version: row.tmk_version });
  try {
    return JSON.parse(bytes.toString('utf8')) as Grant;
  } finally {
    bytes.fill(0);
  }
}

/** The grant ends a day after its migration; what was to be ended sooner stays so. */
export const endGrant = (tx: Tx, ctx: Ctx, migrationId: string) =>
  tx.secret_migration_credentials.updateMany({
    where: { ...own(ctx), migration_id: migrationId, expires_at: { gt: new Date(ctx.now.getTime() + AFTER_END_MS) } },
    data: { expires_at: new Date(ctx.now.getTime() + AFTER_END_MS) },
  });

/** Wipes grants whose time is over, one transaction each, the entry of the critical chain first. @returns grants wiped */
export async function wipeExpiredGrants(db: Db, now: Date, batch = 500): Promise<number> {
  const due = await db.secret_migration_credentials.findMany({
    where: { wiped_at: null, expires_at: { lte: now } },
    select: { id: true, tenant_id: true, sandbox: true, migration_id: true, created_at: true },
    take: batch,
  });
  let wiped = 0;
  for (const { id, tenant_id, sandbox, migration_id, created_at } of due) {
    const ctx = systemContext(db, { tenant_id, sandbox, now, label: 'migration grants' });
    wiped += await inTransaction(ctx, async (tx) => {
      const [row] = await tx.$queryRaw<{ id: string }[]>`
        select id from secret_migration_credentials where id = ${id}::uuid and wiped_at is null and expires_at <= ${now} for update skip locked`;
      if (!row) return 0;
      await appendCritical(tx, ctx, {
        action: 'migration.credentials.expired',
        resource_type: 'migration_credential',
        resource_id: id,
        details: { migration_id, cause: now.getTime() - created_at.getTime() >= LIFE_MS ? 'age' : 'terminal' },
      });
      await tx.secret_migration_credentials.update({
        where: { id },
        data: { value_ct: null, cek_wrapped: null, wiped_at: now },
        select: { id: true },
      });
      return 1;
    });
  }
  return wiped;
}

const placeOf = (ctx: Ctx, rowId: string) =>
  ({ tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'migration_credential', row_id: rowId }) as const;
