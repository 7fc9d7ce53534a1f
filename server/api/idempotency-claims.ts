import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/sql.ts';

/** One attempt at an idempotent call. Each attempt has a lease of its own, and only the holder of the current one may complete it. */
export type Claim = { id: string; lease_until: Date; tmk_version: number };

export type StoredCall = Claim & {
  fingerprint: Uint8Array;
  state: string;
  status: number;
  content_type: string;
  body_ct: Uint8Array;
  cek_wrapped: Uint8Array;
  body_tmk: number;
  request_id: string;
  service_version: string;
};

const LEASE = "interval '120 seconds'";
/** A claim this young may not have reached its transaction yet. */
const GRACE = "interval '119 seconds'";

/** Inserts the claim of a key that is new, or was completed more than 24 hours ago; undefined when the key is taken. */
export async function insertClaim(ctx: Ctx, keyHmac: Uint8Array, fingerprint: Uint8Array, version: number): Promise<Claim | undefined> {
  const { rows } = await sql().query<Claim>({
    name: 'idem-claim',
    text: `insert into idempotency_keys (id, tenant_id, sandbox, principal, key_hmac, fingerprint, tmk_version, state, lease_until)
      values ($1, $2, $3, $4, $5, $6, $7, 'in_progress', now() + ${LEASE})
      on conflict (tenant_id, sandbox, principal, key_hmac) do update set id = excluded.id, fingerprint = excluded.fingerprint, tmk_version = excluded.tmk_version, state = 'in_progress', lease_until = excluded.lease_until,
        status = null, body_ct = null, cek_wrapped = null, request_id = null, created_at = now(), completed_at = null
        where idempotency_keys.completed_at < now() - interval '24 hours'
      returning id, lease_until, tmk_version`,
    values: [newId(), ctx.tenant_id, ctx.sandbox, principal(ctx), keyHmac, fingerprint, version],
  });
  return rows[0];
}

/** The row of a key that still counts, under any of these stored forms of it. */
export async function findCall(ctx: Ctx, keyHmacs: readonly Uint8Array[]): Promise<StoredCall | undefined> {
  const { rows } = await sql().query<StoredCall>({
    name: 'idem-select',
    text: `select id, lease_until, tmk_version, fingerprint, state, status, content_type, body_ct, cek_wrapped, body_tmk, request_id, service_version from idempotency_keys
      where tenant_id = $1 and sandbox = $2 and principal = $3 and key_hmac = any($4) and (completed_at is null or completed_at >= now() - interval '24 hours')
      order by tmk_version desc limit 1`,
    values: [ctx.tenant_id, ctx.sandbox, principal(ctx), keyHmacs],
  });
  return rows[0];
}

/**
 * Versions of the tenant key before `active` under which a completed call may still lie: retired less than 24 hours ago, and an hour more for calls that
 * were running at that moment.
 */
export async function versionsBefore(ctx: Ctx, active: number): Promise<number[]> {
  if (active <= 1) return [];
  const { rows } = await sql().query<{ version: number }>({
    name: 'idem-versions',
    text: `select version from tenant_master_keys where tenant_id = $1 and version < $2 and retired_at > now() - interval '25 hours'`,
    values: [ctx.tenant_id, active],
  });
  return rows.map(({ version }) => version);
}

/**
 * Takes a claim over when its lease ran out, or at once when no transaction holds it: its process died, because a living one holds the claim from
 * the start of its transaction to the end. The old holder, should it still run, then fails `completeClaim` and rolls back.
 */
export async function takeOver({ id, lease_until }: Claim): Promise<Claim | undefined> {
  const { rows } = await sql().query<Claim>({
    name: 'idem-takeover',
    text: `update idempotency_keys set lease_until = now() + ${LEASE} where id = $1 and state = 'in_progress' and lease_until = $2
        and (lease_until < now() or (lease_until < now() + ${GRACE} and pg_try_advisory_xact_lock(hashtextextended($3, 0))))
      returning id, lease_until, tmk_version`,
    values: [id, lease_until, lockName({ id, lease_until })],
  });
  return rows[0];
}

/**
 * Keeps the claim for two minutes in which no transaction holds it: then its process has died. `held` is absent when it was taken over.
 * @returns also the version of the tenant key that is active now
 */
export async function extendClaim(
  ctx: Ctx,
  { id, lease_until }: Claim,
): Promise<{ held?: Claim | undefined; active?: number | undefined }> {
  const { rows } = await sql().query<Claim & { active: number | null }>({
    name: 'idem-extend',
    text: `update idempotency_keys set lease_until = now() + interval '240 seconds' where id = $1 and state = 'in_progress' and lease_until = $2
      returning id, lease_until, tmk_version, (select version from tenant_master_keys where tenant_id = $3 and status = 'active') as active`,
    values: [id, lease_until, ctx.tenant_id],
  });
  const [row] = rows;
  if (!row) return {};
  const { active, ...held } = row;
  return { held, active: active ?? undefined };
}

/** Marks the claim as alive until the transaction ends, however it ends. @returns the version of the tenant key that is active now */
export async function holdClaim(tx: Tx, ctx: Ctx, claim: Claim): Promise<number | undefined> {
  const [row] = await tx.$queryRaw<
    { version: number | null }[]
  >`select pg_advisory_xact_lock(hashtextextended(${lockName(claim)}, 0))::text,
    (select version from tenant_master_keys where tenant_id = ${ctx.tenant_id}::uuid and status = 'active') as version`;
  return row?.version ?? undefined;
}

/** @returns false when the claim was taken over, and nothing was stored */
export async function completeClaim(
  tx: Tx,
  ctx: Ctx,
  { id, lease_until }: Claim,
  answer: Omit<Completed, 'completed_at'>,
): Promise<boolean> {
  const { count } = await tx.idempotency_keys.updateMany({
    where: { id, ...own(ctx), state: 'in_progress', lease_until },
    data: { ...answer, state: 'completed', completed_at: new Date() },
  });
  return count === 1;
}
type Completed = NonNullable<Parameters<Tx['idempotency_keys']['updateMany']>[0]['data']>;

export async function releaseClaim({ id, lease_until }: Claim): Promise<void> {
  await sql().query("delete from idempotency_keys where id = $1 and state = 'in_progress' and lease_until = $2", [id, lease_until]);
}

/** Names one attempt, so that a process that hangs does not hold the attempt after its own. */
export const lockName = ({ id, lease_until }: Pick<Claim, 'id' | 'lease_until'>) => `idempotency:${id}:${lease_until.getTime()}`;

/** The credential, not the token: an SDK mints a new token between retries. */
/** Never the token: a client mints another one between two tries (interface rule 01 §7.3). */
const principal = ({ actor }: Ctx) =>
  actor.type === 'oauth_token' && actor.user_id !== null ? `${actor.type}:${actor.id}:${actor.user_id}` : `${actor.type}:${actor.id}`;

export const answerPlace = (ctx: Ctx, rowId: string) => ({
  tenant_id: ctx.tenant_id,
  space: spaceOf(ctx.sandbox),
  purpose: 'idempotency_response' as const,
  row_id: rowId,
});
