import { rowsShown } from '#server/domain/policies/service.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';

type Rows = { rows: readonly Record<string, unknown>[] };

/** The result of a read without what tenant policies deny its caller: a list leaves such rows out, and says how many. */
export async function shown(
  op: Pick<AnyOperation, 'kind' | 'list' | 'http' | 'needs' | 'names'>,
  ctx: HotCtx,
  result: unknown,
): Promise<unknown> {
  if (op.kind !== 'read' || !op.list) return result;
  const { rows } = result as Rows;
  const { rows: left, namesOnly } = await rowsShown(ctx, op, rows);
  const hidden = rows.length - left.length;
  if (hidden > 0) ctx.warnings.push(`${hidden} ${hidden === 1 ? 'row is' : 'rows are'} hidden by a tenant policy.`);
  return hidden === 0 && !namesOnly ? result : { ...(result as Rows), rows: left, names_only: namesOnly };
}
