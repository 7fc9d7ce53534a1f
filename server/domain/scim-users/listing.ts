import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { clampPage, pageOf } from '#server/kernel/page.ts';
import { ownRowsOf } from '#server/platform/own-rows.ts';
import { ACTIVE, COLUMNS, type DirectoryRecord } from './record.ts';
import type { ListDirectoryPeople } from './schema.ts';

/** A condition over `scim_users s`, with its values from `$3` on. */
export type Condition = { text: string; values: readonly unknown[] };
export type ListedPeople = { total: number; records: DirectoryRecord[] };

const LIVE = 's.tenant_id = $1 and $2::boolean is not null and s.deleted_at is null';

/** Records in the order in which they were made, and how many there are (interface rule 23 §5). */
export async function listRecords(
  ctx: Ctx,
  { where, skip, take }: { where: Condition | null; skip: number; take: number },
): Promise<ListedPeople> {
  const condition = where ? `${LIVE} and ${where.text}` : LIVE;
  const values = where?.values ?? [];
  const count = ownRowsOf<{ n: number }>(ctx, `select count(*)::int as n from scim_users s where ${condition}`, ...values);
  const page = `select ${COLUMNS} from scim_users s where ${condition} order by s.created_at, s.id limit ${take} offset ${skip}`;
  const records = take === 0 ? [] : await ownRowsOf<DirectoryRecord>(ctx, page, ...values);
  return { total: (await count)[0]?.n ?? 0, records };
}

/** The people of the directory for the dashboard, those that were synchronised last first. */
export async function listDirectoryPeople(ctx: Ctx, query: z.output<typeof ListDirectoryPeople>) {
  const { skip, per_page } = clampPage(query);
  const conditions = [LIVE];
  const values: unknown[] = [];
  if (query.search) {
    values.push(query.search);
    conditions.push(
      `strpos(lower(concat_ws(' ', s.user_name, s.display_name, s.formatted, s.given_name, s.family_name, s.external_id)), lower($3)) > 0`,
    );
  }
  if (query.active !== undefined) conditions.push(query.active ? ACTIVE : `not ${ACTIVE}`);
  const condition = conditions.join(' and ');
  const [count, rows] = await Promise.all([
    ownRowsOf<{ n: number }>(ctx, `select count(*)::int as n from scim_users s where ${condition}`, ...values),
    ownRowsOf<DirectoryRecord>(
      ctx,
      `select ${COLUMNS} from scim_users s where ${condition} order by s.synced_at desc, s.id desc limit ${per_page} offset ${skip}`,
      ...values,
    ),
  ]);
  return pageOf(rows, count[0]?.n ?? 0, query);
}
