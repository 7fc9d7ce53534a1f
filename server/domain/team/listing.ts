import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { pageOf, pageWindow } from '#server/kernel/page.ts';
import { csvLine, download, type RawBody } from '#server/kernel/raw-body.ts';
import type { ListMembers } from './schema.ts';
import { type MemberRow, memberById, selectMembers } from './store.ts';

type Query = z.output<typeof ListMembers>;

const NAME = Prisma.sql`lower(coalesce(nullif(u.full_name, ''), u.email))`;
/** Roles sort by what they may do, not by their letters. */
const RANK = Prisma.sql`array_position(array['owner', 'admin', 'editor', 'viewer', 'member'], m.role)`;
const SORTS = { name: NAME, role: RANK, joined_at: Prisma.sql`m.joined_at`, last_active_at: Prisma.sql`m.last_active_at` } as const;

/** One page of members and the true total. */
export function listMembers(ctx: Ctx, query: Query) {
  return read(ctx, async (tx) => {
    const conditions = matching(ctx, query);
    const [count] = await tx.$queryRaw<
      { n: number }[]
    >`select count(*)::int as n from memberships m join users u on u.id = m.user_id where ${conditions}`;
    const total = count?.n ?? 0;
    const { skip, take, backwards } = pageWindow({ ...query, order: 'asc' }, total);
    if (take === 0) return pageOf<MemberRow>([], total, query);
    // What a row shows is found for the page alone.
    const ids = Prisma.sql`select m.user_id from memberships m join users u on u.id = m.user_id where ${conditions}
      order by ${orderOf(query, backwards)} limit ${take} offset ${skip}`;
    const rows = await tx.$queryRaw<
      MemberRow[]
    >`${selectMembers(ctx)} where ${conditions} and m.user_id = any(array(${ids})) order by ${orderOf(query, false)}`;
    return pageOf(rows, total, query);
  });
}

function orderOf({ sort, order }: Query, backwards: boolean): Prisma.Sql {
  const direction = (order === 'asc') === backwards ? Prisma.sql`desc nulls last` : Prisma.sql`asc nulls first`;
  const ties = backwards ? Prisma.sql`desc` : Prisma.sql`asc`;
  return Prisma.sql`${SORTS[sort]} ${direction}, ${NAME} ${ties}, m.user_id ${ties}`;
}

/** @throws Refusal not_found */
export const getMember = (ctx: Ctx, input: { id: string }) => read(ctx, (tx) => memberById(tx, ctx, input.id));

/** Every member as CSV, by name. Recorded before the first line leaves. */
export async function exportMembers(ctx: Ctx): Promise<RawBody> {
  const rows = await mutate(ctx, async (tx) => {
    const found = await tx.$queryRaw<
      MemberRow[]
    >`${selectMembers(ctx)} where m.tenant_id = ${ctx.tenant_id}::uuid and m.removed_at is null order by ${NAME}, m.user_id`;
    return audited(found, {
      action: 'export',
      resource_type: 'member',
      resource_id: null,
      details: { format: 'csv', members: found.length },
      workspace_level: true,
    });
  });
  return download('text/csv; charset=utf-8; header=present', `members-${ctx.now.toISOString().slice(0, 10)}.csv`, csv(rows));
}

const COLUMNS = [
  'id',
  'email',
  'full_name',
  'role',
  'reveal_secrets',
  'migration_reviewer',
  'second_factor',
  'source',
  'added_by',
  'joined_at',
  'last_active_at',
] as const;

async function* csv(rows: MemberRow[]): AsyncGenerator<string> {
  yield csvLine([...COLUMNS]);
  for (const row of rows)
    yield csvLine(
      COLUMNS.map((name) => {
        const value = row[name];
        return value instanceof Date ? value.toISOString() : value;
      }),
    );
}

function matching(ctx: Ctx, { q, role }: Query) {
  const like = `%${(q ?? '').replace(/[\\%_]/g, '\\$&')}%`;
  return Prisma.join(
    [
      Prisma.sql`m.tenant_id = ${ctx.tenant_id}::uuid and m.removed_at is null`,
      ...(q ? [Prisma.sql`(u.email ilike ${like} or u.full_name ilike ${like})`] : []),
      ...(role ? [Prisma.sql`m.role = ${role}`] : []),
    ],
    ' and ',
  );
}
