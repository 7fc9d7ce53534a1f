import type { QueryResultRow } from 'pg';
import type { Ctx } from '#server/kernel/context.ts';
import { ownSql } from './sql.ts';

/** A prepared SELECT of rows of one workspace and space. */
export type OwnQuery = { name: string; text: string };

/**
 * Declares a query for `ownRows`. `$1` is the workspace and `$2` the space (true for Test), and the query filters by both; its own values begin at `$3`.
 * It is planned once for all workspaces, so it must find its rows by a unique index.
 *
 * Row-level security holds in this one statement: its connection acts as `sallyport_app` for life, so the policies are part of every plan, and the
 * workspace and space that they compare with are set by the statement, for the statement (`is_local`). The lateral join with OFFSET makes PostgreSQL
 * set them before it reads a row. If a planner ever changed that order, the settings would be empty and no row would be visible.
 */
export const ownQuery = (name: string, text: string): OwnQuery => ({
  name,
  text: `with own as materialized (
      select set_config('app.tenant_id', $1::uuid::text, true) as tenant, set_config('app.sandbox', $2::boolean::text, true) as sandbox)
    select found.* from own cross join lateral (
      select * from (${text}) as asked where own.tenant is not null and own.sandbox is not null offset 0) as found`,
});

/** Runs the query in the caller's workspace and space: one round trip, under row-level security, without Prisma. */
export async function ownRows<Row extends QueryResultRow>(
  { tenant_id, sandbox }: Pick<Ctx, 'tenant_id' | 'sandbox'>,
  { name, text }: OwnQuery,
  ...values: unknown[]
): Promise<Row[]> {
  const { rows } = await ownSql().query<Row>({ name, text, values: [tenant_id, sandbox, ...values] });
  return rows;
}
