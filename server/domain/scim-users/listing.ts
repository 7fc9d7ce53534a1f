import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { limitStatements, read } from '#server/kernel/database.ts';
import { pageOf, pageWindow } from '#server/kernel/page.ts';
import { ACTIVE, COLUMNS, type DirectoryRecord } from './record.ts';
import type { ListDirectoryPeople } from './schema.ts';

/** A condition over `scim_users s`, with its values from `$3` on. */
export type Condition = { text: string; values: readonly unknown[] };
export type ListedPeople = { total: number; records: DirectoryRecord[] };

const LIVE = 's.tenant_id = $1::uuid and $2::boolean is not null and s.deleted_at is null';

/** Records in the order in which they were made, and how many there are (interface rule 23 §5). */
export function listRecords(
  ctx: Ctx,
  { where, skip, take }: { where: Condition | null; skip: number; take: number },
): Promise<ListedPeople> {
  const condition = where ? `${LIVE} and ${where.text}` : LIVE;
  return listed(ctx, where?.values ?? [], {
    total: where ? count(condition) : ALL,
    page: (total) => {
      // Read from the nearer end of the index.
      const backwards = total - skip - take < skip;
      const [order, offset, limit] = backwards
        ? ['desc', Math.max(0, total - skip - take), Math.min(take, total - skip)]
        : ['asc', skip, take];
      return skip < total && take > 0
        ? `select s.id from scim_users s where ${condition} order by s.created_at ${order}, s.id ${order} limit ${limit} offset ${offset}`
        : null;
    },
    order: 's.created_at, s.id',
  });
}

/** The people of the directory for the dashboard, those that were synchronised last first. */
export async function listDirectoryPeople(ctx: Ctx, query: z.output<typeof ListDirectoryPeople>) {
  const conditions = [LIVE];
  const values: unknown[] = [];
  if (query.search) {
    values.push(query.search);
    conditions.push(
      `strpos(lower(concat_ws(' ', s.user_name, s.display_name, s.formatted, s.given_name, s.family_name, s.external_id)), lower($3::text)) > 0`,
    );
  }
  if (query.active !== undefined) conditions.push(query.active ? ACTIVE : `not ${ACTIVE}`);
  const condition = conditions.join(' and ');
  const order = 's.synced_at desc, s.id desc';
  const page = (found: number) => {
    const { skip, take, backwards } = pageWindow({ ...query, order: 'desc' }, found);
    const from = backwards ? 's.synced_at, s.id' : order;
    return take === 0 ? null : `select s.id from scim_users s where ${condition} order by ${from} limit ${take} offset ${skip}`;
  };
  const { total, records } = await listed(ctx, values, { total: count(condition), page, order });
  return pageOf(records, total, query);
}

/** Of one statement. A filter of fifty comparisons reads everything that a directory has, again and again. */
const LONGEST_MS = 5_000;

const count = (condition: string) => `select count(*)::int as n from scim_users s where ${condition}`;
const ALL = `select coalesce((select n from row_counts where tenant_id = $1::uuid and not sandbox and kind = 'scim_users'), 0)::int as n where $2::boolean is not null`;

/**
 * A total and the records of a page. The IDs of the page come first: what is derived is derived for them alone. In a transaction of the workspace, where
 * the planner knows which workspace it plans for.
 */
function listed(
  ctx: Ctx,
  values: readonly unknown[],
  { total, page, order }: { total: string; page: (total: number) => string | null; order: string },
): Promise<ListedPeople> {
  return read(ctx, (tx) =>
    limitStatements(tx, LONGEST_MS, async () => {
      const ask = <R>(text: string) => tx.$queryRawUnsafe<R[]>(text, ctx.tenant_id, ctx.sandbox, ...values);
      const n = (await ask<{ n: number }>(total))[0]?.n ?? 0;
      const ids = page(n);
      if (ids === null) return { total: n, records: [] };
      const records = await ask<DirectoryRecord>(`select ${COLUMNS} from scim_users s where s.id = any(array(${ids})) order by ${order}`);
      return { total: n, records };
    }),
  );
}
