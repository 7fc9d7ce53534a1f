import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { jsonOfColumn } from '#server/kernel/lossless-json.ts';

/** Bytes of JSON of all definitions on one page of a list. One alone has at most 512 KiB. */
const MOST_ON_PAGE = 2 * 1024 * 1024;

/**
 * The definitions of the rows of a page, in its order, as far as they have 2 MiB together: those behind that aren't read, and a warning says so.
 * @returns by the id of the row
 */
export async function definitionsOfPage(
  tx: Tx,
  ctx: Ctx,
  table: 'workflows' | 'workflow_versions',
  ids: readonly string[],
): Promise<ReadonlyMap<string, Record<string, unknown>>> {
  if (ids.length === 0) return new Map();
  const from = Prisma.raw(table);
  const rows = await tx.$queryRaw<{ id: string; definition: Record<string, unknown> }[]>`
    with measured as (
      select id, sum(octet_length(definition::text)) over (order by array_position(${[...ids]}::uuid[], id)) as so_far
      from ${from} where id = any(${[...ids]}::uuid[]) and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox})
    select id, definition from ${from} join measured using (id) where so_far <= ${MOST_ON_PAGE}`;
  const left = ids.length - rows.length;
  if (left > 0)
    ctx.warnings.push(
      `${left === 1 ? 'One definition is' : `${left} definitions are`} left out, as null: those of a page have at most 2 MiB together. Get one workflow, or ask for smaller pages.`,
    );
  return new Map(rows.map(({ id, definition }) => [id, jsonOfColumn(definition) as Record<string, unknown>]));
}
