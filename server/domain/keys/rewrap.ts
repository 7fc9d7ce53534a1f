import { TenantSealed } from '#server/crypto/keyring.ts';
import { randomBase62 } from '#server/crypto/random.ts';
import { resignCapabilities } from '#server/custody/capabilities.ts';
import { keyring } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { SEALED_TABLES, type SealedTable } from './sealed-tables.ts';

export type RewrapOptions = {
  /** Rows of one update; 100. */
  batch?: number;
  /** Milliseconds between updates, so that a rotation never shows in the service's latency; 5000. */
  pause?: number;
  /** Stops at this time, leaving the rest to the next run; 50 s from now. */
  until?: number;
  signal?: AbortSignal;
};

/** Before every ID. */
const FIRST = '00000000-0000-0000-0000-000000000000';
const LEASE = "interval '60 seconds'";
/** Of a sealed workspace. */
const PAUSE = "interval '30 seconds'";
/** Values under a revoked version are gone: no re-wrapping waits for them. */
const unrevoked = (table: string, version: string) =>
  `not exists (select from tenant_master_keys r where r.tenant_id = ${table}.tenant_id and r.version = ${table}.${version} and r.status = 'revoked')`;
type Lease = { id: string; tenant_id: string; to_version: number };
type Row = { id: string; sandbox: boolean | null; cek_wrapped: Buffer; tmk_version: number };

/**
 * Moves a workspace's content keys under its active master key (interface rule 31 §6), and signs its capability tokens with it. One worker at a time by lease; any other may go on after a
 * crash, because what is left is found by `version < active`. Values are not opened. Safe to run twice, and a concurrent write of a row wins.
 * @returns rows moved; null when somebody else holds the lease
 */
export async function rewrap(leaseId: number | string, options: RewrapOptions = {}): Promise<number | null> {
  const owner = randomBase62(20);
  const lease = await take(leaseId, owner);
  if (!lease) return null;
  try {
    return await move(lease, owner, options);
  } catch (error) {
    if (!(error instanceof TenantSealed)) throw error;
    // Nothing is wrong with the rows. The KMS is asked again by the poll, and this goes on after it.
    await sql().query(`update rewrap_leases set owner = null, expires_at = now() + ${PAUSE} where id = $1 and owner = $2`, [
      lease.id,
      owner,
    ]);
    log.info({ tenant_id: lease.tenant_id, lease_id: lease.id }, 're-wrapping is paused while the workspace is sealed');
    return 0;
  }
}

async function move(lease: Lease, owner: string, options: RewrapOptions): Promise<number> {
  const { batch = 100, pause = 5_000, until = Date.now() + 50_000, signal } = options;
  keyring().evict(lease.tenant_id); // the version that is active now, not an hour ago
  const active = (await keyring().activeTmk(lease.tenant_id)).version;
  if (active < lease.to_version) return giveBack(lease, owner, 0); // the rotation has not committed yet
  let moved = 0;
  let damaged = 0;
  for (const table of SEALED_TABLES) {
    for (let after = FIRST; ; ) {
      const rows = await olderRows(table, lease.tenant_id, active, after, batch);
      const last = rows.at(-1);
      if (!last) break;
      const result = await moveRows(table, lease.tenant_id, rows);
      moved += result.moved;
      damaged += result.damaged;
      after = last.id;
      if (!(await beat(lease, owner, result.moved))) return moved; // taken over: the other one goes on
      if (Date.now() + pause > until || signal?.aborted) return giveBack(lease, owner, moved);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  for (let after: string | undefined = FIRST; after !== undefined; ) {
    const signed = await resignCapabilities(lease.tenant_id, active, after, batch);
    moved += signed.moved;
    damaged += signed.refused;
    after = signed.after;
    if (!(await beat(lease, owner, signed.moved))) return moved;
    if (after !== undefined && (Date.now() + pause > until || signal?.aborted)) return giveBack(lease, owner, moved);
    if (after !== undefined) await new Promise((resolve) => setTimeout(resolve, pause));
  }
  await (damaged > 0 ? postpone(lease, owner, damaged) : complete(lease, owner, active));
  return moved;
}

async function take(id: number | string, owner: string): Promise<Lease | undefined> {
  const { rows } = await sql().query<Lease>(
    `update rewrap_leases set owner = $2, heartbeat_at = now(), expires_at = now() + ${LEASE} where id = $1 and completed_at is null and (expires_at is null or expires_at < now()) returning id, tenant_id, to_version`,
    [id, owner],
  );
  return rows[0];
}

async function olderRows(
  { table, wrapped, version, space }: SealedTable,
  tenantId: string,
  active: number,
  after: string,
  batch: number,
): Promise<Row[]> {
  const { rows } = await sql().query<Row>(
    `select id, ${space === 'by_row' ? 'sandbox' : 'null::boolean as sandbox'}, ${wrapped} as cek_wrapped, ${version} as tmk_version from ${table}
     where tenant_id = $1 and ${version} < $2 and ${wrapped} is not null and id > $3 and ${unrevoked(table, version)} order by id limit ${batch}`,
    [tenantId, active, after],
  );
  return rows;
}

/** One update for the batch; a row whose version changed meanwhile was written anew and is left alone. `updated_at` and versions stay as they are. */
async function moveRows(
  { table, wrapped, version, purpose }: SealedTable,
  tenantId: string,
  rows: readonly Row[],
): Promise<{ moved: number; damaged: number }> {
  const ready: { id: string; cek: Uint8Array; from: number; to: number }[] = [];
  let damaged = 0;
  for (const row of rows) {
    const space = row.sandbox === null ? '-' : row.sandbox ? 'test' : 'live';
    try {
      const next = await keyring().rewrapCek({ tenant_id: tenantId, space, purpose, row_id: row.id }, row);
      if (next) ready.push({ id: row.id, cek: next.cek_wrapped, from: row.tmk_version, to: next.tmk_version });
    } catch (error) {
      if (error instanceof TenantSealed) throw error;
      damaged++;
      log.error({ err: error, tenant_id: tenantId, table, id: row.id }, 'cannot move a content key to the active master key');
    }
  }
  const { rowCount } = await sql().query(
    `update ${table} t set ${wrapped} = v.cek, ${version} = v.to_version from unnest($1::uuid[], $2::bytea[], $3::int[], $4::int[]) as v(id, cek, from_version, to_version)
     where t.id = v.id and t.${version} = v.from_version and t.${wrapped} is not null`,
    [ready.map((r) => r.id), ready.map((r) => Buffer.from(r.cek)), ready.map((r) => r.from), ready.map((r) => r.to)],
  );
  return { moved: rowCount ?? 0, damaged };
}

/** False when the lease is no longer ours. A batch takes far less than the lease's minute, so one beat a batch is enough. */
async function beat(lease: Lease, owner: string, moved: number): Promise<boolean> {
  const { rowCount } = await sql().query(
    `update rewrap_leases set heartbeat_at = now(), expires_at = now() + ${LEASE}, rows_done = rows_done + $3 where id = $1 and owner = $2 and completed_at is null`,
    [lease.id, owner, moved],
  );
  return rowCount === 1;
}

async function giveBack(lease: Lease, owner: string, moved: number): Promise<number> {
  await sql().query('update rewrap_leases set owner = null, expires_at = null where id = $1 and owner = $2', [lease.id, owner]);
  return moved;
}

/** Damaged rows stay where they are, readable or not as before; an operator has an hour between two reminders. */
async function postpone(lease: Lease, owner: string, damaged: number): Promise<void> {
  log.error({ tenant_id: lease.tenant_id, rows: damaged }, 're-wrapping is incomplete: the retired key is still needed');
  await sql().query("update rewrap_leases set owner = null, expires_at = now() + interval '1 hour' where id = $1 and owner = $2", [
    lease.id,
    owner,
  ]);
}

async function complete(lease: Lease, owner: string, active: number): Promise<void> {
  const { rowCount } = await sql().query(
    'update rewrap_leases set completed_at = now(), owner = null, expires_at = null where id = $1 and owner = $2',
    [lease.id, owner],
  );
  if (rowCount !== 1) return;
  await sql().query(
    "update tenant_master_keys set rewrap_completed_at = now() where tenant_id = $1 and version < $2 and status = 'retired' and rewrap_completed_at is null",
    [lease.tenant_id, active],
  );
  // Whoever leaves their KMS has left it now.
  await sql().query(
    `delete from tenant_kms_configs c where tenant_id = $1 and leaving
       and exists (select from tenant_master_keys k where k.tenant_id = c.tenant_id and k.status = 'active' and k.wrap_method = 'global' and k.version <= $2)`,
    [lease.tenant_id, active],
  );
}

/**
 * Goes on with every open lease that nobody holds. Each hour it also issues leases for values that another process sealed under a retired key
 * after a rotation, before it heard of it, and for rotations whose own lease could not be issued.
 */
export async function resumeRewraps(options: RewrapOptions & { stragglers?: boolean } = {}): Promise<number> {
  if (options.stragglers) await leaseStragglers();
  const { rows } = await sql().query<{ id: string }>(
    'select id from rewrap_leases where completed_at is null and (expires_at is null or expires_at < now()) order by id limit 100',
  );
  let moved = 0;
  for (const { id } of rows) {
    try {
      moved += (await rewrap(id, options)) ?? 0;
    } catch (error) {
      log.warn({ err: error, lease_id: id }, 're-wrapping stopped; it is retried in a minute');
    }
  }
  return moved;
}

async function leaseStragglers(): Promise<void> {
  await sql().query(
    `insert into rewrap_leases (tenant_id, from_version, to_version)
     select r.tenant_id, min(r.version), k.version from tenant_master_keys r join tenant_master_keys k on k.tenant_id = r.tenant_id and k.status = 'active'
     where r.status = 'retired' and r.rewrap_completed_at is null and r.version < k.version
       and not exists (select from rewrap_leases l where l.tenant_id = r.tenant_id and l.completed_at is null)
     group by r.tenant_id, k.version`,
  );
  await sql().query(
    `insert into rewrap_leases (tenant_id, from_version, to_version)
     select s.tenant_id, min(s.hmac_key_version), k.version from ai_tokens s join tenant_master_keys k on k.tenant_id = s.tenant_id and k.status = 'active'
     where s.hmac_key_version < k.version and s.capability_hmac <> '' and s.expires_at > now() and ${unrevoked('s', 'hmac_key_version')}
       and not exists (select from rewrap_leases l where l.tenant_id = s.tenant_id and l.completed_at is null)
     group by s.tenant_id, k.version`,
  );
  for (const { table, wrapped, version } of SEALED_TABLES) {
    await sql().query(
      `insert into rewrap_leases (tenant_id, from_version, to_version)
       select s.tenant_id, min(s.${version}), k.version from ${table} s join tenant_master_keys k on k.tenant_id = s.tenant_id and k.status = 'active'
       where s.${version} < k.version and s.${wrapped} is not null and ${unrevoked('s', version)} and not exists (select from rewrap_leases l where l.tenant_id = s.tenant_id and l.completed_at is null)
       group by s.tenant_id, k.version`,
    );
  }
}
