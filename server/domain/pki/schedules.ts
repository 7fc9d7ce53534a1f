import { own } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import type { Db } from '#server/kernel/tx.ts';
import { log } from '#server/platform/log.ts';
import { signCrl } from './crls.ts';
import { rotate } from './intermediates.ts';
import { activeIntermediate, ERASED, lockedRoot } from './store.ts';

type Place = { tenant_id: string; sandbox: boolean };
const DAY = 24 * 3_600_000;
/** An intermediate has issued enough when its list could become too long (interface rule 43 §9). */
const MOST_LEAVES = 100_000;

/** Tries each; one that fails holds up no other and is tried again at the next run. @returns how many were done */
async function each<T extends Place>(
  due: readonly T[],
  what: string,
  work: (one: T) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<number> {
  let done = 0;
  for (const one of due) {
    if (signal?.aborted) break;
    try {
      if (await work(one)) done++;
    } catch (error) {
      // A sealed workspace signs nothing until it is opened again, and that is no news every minute.
      if (asRefusal(error).type !== 'tenant_sealed') log.error({ err: error, ...one } as { err: unknown }, `cannot ${what}`);
    }
  }
  return done;
}

/**
 * The hourly job: replaces intermediates of which less than a third is left, or which have issued as many leaves as a list can name. One that ends with its
 * root stays: another would end with it too. Two workers at once rotate each once. @returns how many were rotated
 */
export async function rotateDueIntermediates(db: Db, now: Date, signal?: AbortSignal): Promise<number> {
  const due = await db.$queryRaw<(Place & { root_id: string; intermediate_id: string })[]>`
    select r.tenant_id, r.sandbox, r.id as root_id, i.id as intermediate_id
    from pki_intermediates i join pki_roots r on r.id = i.ca_root_id join tenants t on t.id = r.tenant_id
    where i.status = 'active' and r.status = 'active' and t.deleted_at is null
      and r.not_after > ${now}::timestamptz + interval '1 minute' and i.not_after < r.not_after - interval '1 second'
      and (i.not_after - ${now}::timestamptz < (i.not_after - i.not_before) / 3
        or (select count(*) from (select from pki_certificates c where c.intermediate_id = i.id limit ${MOST_LEAVES}) s) >= ${MOST_LEAVES})`;
  return each(
    due,
    'rotate an intermediate that is due',
    ({ root_id, intermediate_id, ...place }) => {
      const ctx = systemContext(db, { ...place, now, label: 'intermediate rotation' });
      return mutate(ctx, async (tx) => {
        const root = await lockedRoot(tx, ctx, root_id);
        const active = await activeIntermediate(tx, ctx, root.id);
        // Somebody else was faster.
        if (root.status !== 'active' || active?.id !== intermediate_id) return unchanged(false);
        return audited(true, (await rotate(tx, ctx, root, 'schedule')).entry);
      });
    },
    signal,
  );
}

/** Signs a last list for each intermediate that has ended and erases its key. @returns how many */
export async function expireIntermediates(db: Db, now: Date, signal?: AbortSignal): Promise<number> {
  const due = await db.pki_intermediates.findMany({
    where: { status: { in: ['active', 'retired'] }, not_after: { lte: now } },
    orderBy: { id: 'asc' },
    take: 1_000,
    select: { id: true, tenant_id: true, sandbox: true },
  });
  return each(
    due,
    'end an intermediate',
    ({ id, ...place }) => {
      const ctx = systemContext(db, { ...place, now, label: 'intermediate expiry' });
      return inTransaction(ctx, async (tx) => {
        await signCrl(tx, ctx, id);
        await tx.pki_responders.deleteMany({ where: { ...own(ctx), intermediate_id: id } });
        const { count } = await tx.pki_intermediates.updateMany({
          where: { ...own(ctx), id, status: { in: ['active', 'retired'] } },
          data: { ...ERASED, status: 'expired' },
        });
        return count > 0;
      });
    },
    signal,
  );
}

/** Signs one list anew: the job that a revocation leaves behind. @throws when it can't be signed, so that the queue tries again */
export async function signQueuedCrl(db: Db, now: Date, payload: Record<string, unknown>): Promise<boolean> {
  const { tenant_id, sandbox, issuer_id } = payload as { tenant_id: string; sandbox: boolean; issuer_id: string };
  const ctx = systemContext(db, { tenant_id, sandbox, now, label: 'certificate revocation list' });
  return inTransaction(ctx, (tx) => signCrl(tx, ctx, issuer_id));
}

/** Signs the lists that were not renewed for a day less an hour: the daily renewal, spread over the hours. @returns how many */
export async function renewCrls(db: Db, now: Date, signal?: AbortSignal): Promise<number> {
  const due = await db.$queryRaw<Due[]>`
    select c.id, c.tenant_id, c.sandbox from pki_crls c join pki_roots r on r.id = c.ca_root_id join tenants t on t.id = c.tenant_id
      left join pki_intermediates i on i.id = c.id
    where t.deleted_at is null and r.not_after > ${now} and (i.id is null or i.status in ('active', 'retired'))
      and (c.this_update is null or c.this_update < ${new Date(now.getTime() - DAY + 3_600_000)})
    order by c.this_update nulls first limit 10000`;
  return signAll(db, due, now, signal);
}

/** Signs the lists whose job was lost, or tried while the workspace was sealed. @returns how many */
export async function signStaleCrls(db: Db, now: Date, signal?: AbortSignal): Promise<number> {
  const due = await db.pki_crls.findMany({
    where: { stale_since: { lt: new Date(now.getTime() - 10_000) } },
    orderBy: { stale_since: 'asc' },
    take: 1_000,
    select: { id: true, tenant_id: true, sandbox: true },
  });
  return signAll(db, due, now, signal);
}

type Due = Place & { id: string };

const signAll = (db: Db, due: readonly Due[], now: Date, signal?: AbortSignal): Promise<number> =>
  each(
    due,
    'sign a certificate revocation list',
    ({ id, ...place }) => {
      const ctx = systemContext(db, { ...place, now, label: 'certificate revocation list' });
      return inTransaction(ctx, (tx) => signCrl(tx, ctx, id));
    },
    signal,
  );
