import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { inBackground } from '#server/platform/background.ts';
import { sql } from '#server/platform/sql.ts';

const KEPT = 100;
const LONGEST_TARGET = 500;

export type ScimCallRecord = {
  tenant_id: string;
  credential_id: string;
  method: string;
  target: string;
  status: number;
  scim_type: string | null;
  error: string | null;
  detail: string | null;
  request_id: string;
  ip: string | null;
  began_at: Date;
};

/** Keeps the call among the latest hundred of its workspace and stamps its credential. Nobody waits for it. */
export function recordScimCall(call: ScimCallRecord): void {
  const took = Math.max(0, Date.now() - call.began_at.getTime());
  inBackground('scim call', async () => {
    await sql().query({
      name: 'scim-call',
      text: RECORD,
      values: [
        newId(),
        call.tenant_id,
        call.credential_id,
        call.method,
        call.target.slice(0, LONGEST_TARGET).toWellFormed().replaceAll('\0', ''),
        call.status,
        call.scim_type,
        call.error,
        call.detail?.slice(0, LONGEST_TARGET) ?? null,
        call.request_id,
        took,
        call.began_at,
        call.ip,
      ],
    });
    await sql().query({ name: 'scim-calls-prune', text: PRUNE, values: [call.tenant_id] });
  });
}

// Written once in a while: a directory that synchronises a thousand people needn't change one row as often.
const RECORD = `with stamped as (update scim_credentials set last_used_at = $12, last_used_ip = $13
    where id = $3 and (last_used_at is null or last_used_at < $12::timestamptz - interval '10 seconds' or last_used_ip is distinct from $13))
  insert into scim_requests (id, tenant_id, credential_id, method, target, status, scim_type, error, detail, request_id, duration_ms, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;
// One at a time: two that delete the same rows could wait for each other.
const PRUNE = `with turn as materialized (select pg_try_advisory_xact_lock(hashtextextended('scim-calls:' || $1::text, 0)) as mine)
  delete from scim_requests using turn where turn.mine and id in
    (select id from scim_requests where tenant_id = $1::uuid order by created_at desc, id desc offset ${KEPT})`;

/** The latest calls of the workspace's directories, the newest first. */
export async function latestCalls(ctx: Ctx) {
  const rows = await read(ctx, (tx) =>
    tx.scim_requests.findMany({
      where: { tenant_id: ctx.tenant_id },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      take: KEPT,
      include: { credential: { select: { id: true, name: true } } },
    }),
  );
  return rows;
}
