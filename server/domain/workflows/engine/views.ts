import { setImmediate as turn } from 'node:timers/promises';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { type NodeValue, openValue } from './values.ts';

type Place = Pick<Ctx, 'tenant_id' | 'sandbox'>;
type Row = {
  id: string;
  node_id: string;
  node_name: string;
  node_type: string;
  status: string;
  attempt: number;
  iteration: number | null;
  path: string;
  handles: string[];
  started_at: Date | null;
  completed_at: Date | null;
  duration_ms: number | null;
  error_code: string | null;
  error_message: string | null;
  truncated: boolean;
};
type Sealed = { value_ct: Uint8Array | null; cek_wrapped: Uint8Array | null; tmk_version: number | null };
export type NodeRunView = Row & { input: unknown; output: unknown };

/** Of one execution, bytes of values that are shown. Runs of today keep less; those from before these bounds may have hundreds of megabytes. */
const MOST_SHOWN = 10 * 1024 * 1024;
const SEALED = { value_ct: true, cek_wrapped: true, tmk_version: true } as const;

/**
 * The runs of the nodes of an execution in the order in which they began, or those with these ids, with as many of their values as are shown: one that is
 * left out counts as truncated. @throws Refusal tenant_sealed
 */
export async function executionViews(tx: Tx, ctx: Place, execution_id: string, ids?: readonly string[]): Promise<NodeRunView[]> {
  const rows = await tx.workflow_node_executions.findMany({
    where: { ...own(ctx), execution_id, ...(ids && { id: { in: [...ids] } }) },
    orderBy: [{ started_at: { sort: 'asc', nulls: 'last' } }, { id: 'asc' }],
    omit: SEALED,
  });
  const values = await tx.$queryRaw<(Sealed & { id: string; left_out: boolean })[]>`
    select id::text, case when total <= ${MOST_SHOWN} then value_ct end as value_ct, cek_wrapped, tmk_version, coalesce(total > ${MOST_SHOWN}, false) as left_out
    from (select id, value_ct, cek_wrapped, tmk_version, sum(octet_length(value_ct)) over (order by started_at nulls last, id) as total
      from workflow_node_executions where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and execution_id = ${execution_id}::uuid
        and (${ids === undefined} or id = any(${[...(ids ?? [])]}::uuid[]))) runs
    where value_ct is not null`;
  const byId = new Map(values.map(({ id, ...one }) => [id, one]));
  const none = { value_ct: null, cek_wrapped: null, tmk_version: null, left_out: false };
  return nodeRunViews(
    ctx,
    rows.map((row) => {
      const { left_out, ...sealed } = byId.get(row.id) ?? none;
      return { ...row, ...sealed, truncated: row.truncated || left_out };
    }),
  );
}

/** The runs of nodes as `/v1` and pages show them: opens what is sealed, each in a turn of its own. @throws Refusal tenant_sealed */
export async function nodeRunViews(ctx: Place, rows: readonly (Row & Sealed)[]): Promise<NodeRunView[]> {
  const views: NodeRunView[] = [];
  for (const { value_ct, cek_wrapped, tmk_version, ...row } of rows) {
    if (!value_ct || !cek_wrapped || tmk_version === null) {
      views.push({ ...row, input: null, output: null });
      continue;
    }
    const { input, output } = await openValue<NodeValue>(ctx, { id: row.id, value_ct, cek_wrapped, tmk_version }).catch(whenSealed);
    views.push({ ...row, input: input ?? null, output: output ?? null });
    await turn();
  }
  return views;
}

function whenSealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable || error instanceof DecryptFailed)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { cause: error });
  throw error;
}
