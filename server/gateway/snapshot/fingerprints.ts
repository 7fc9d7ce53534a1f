import type { Pool, PoolClient } from 'pg';
import type { Space } from '#server/kernel/context.ts';
import { type AnySlice, SLICES } from './slices.ts';
import { TENANT_TABLES } from './tenant.ts';

/**
 * What tells whether anything of a workspace has changed: a text for each of its tables, by space, that differs after every insert, update and
 * delete. It sums up the transactions that wrote the rows (a hash of each row's xmin), so equal sums mean equal rows.
 */
export type Fingerprint = { readonly text: string; readonly tables: ReadonlyMap<string, string> };

const counted = (table: string, label: string, id: string, where: string) =>
  `select ${id} as tenant_id, ${label} as part, count(*) as n, sum(hashtextextended(xmin::text, 0)) as x from ${table} ${where} group by 1, 2`;

const SPACE_TABLES = [...new Set(SLICES.flatMap(({ tables }) => tables))];
const WORKSPACE_TABLES = [...new Set([...TENANT_TABLES, ...SLICES.flatMap(({ workspaceTables = [] }) => workspaceTables)])];

function query(filtered: boolean): string {
  const only = (column: string) => (filtered ? `where ${column} = any($1)` : '');
  const parts = [
    counted('tenants', "'tenants'", 'id', only('id')),
    ...WORKSPACE_TABLES.map((table) => counted(table, `'${table}'`, 'tenant_id', only('tenant_id'))),
    ...SPACE_TABLES.map((table) =>
      counted(table, `'${table}' || case when sandbox then '.test' else '.live' end`, 'tenant_id', only('tenant_id')),
    ),
  ];
  return `select tenant_id, string_agg(part || '=' || n || '/' || x, ' ' order by part) as print from (${parts.join(' union all ')}) c
    where tenant_id in (select id from tenants where deleted_at is null) group by 1`;
}

const ALL = query(false);
const SOME = query(true);

type Row = { tenant_id: string; print: string };

/** The texts of all workspaces that are not deleted: the backstop for announcements that were lost. */
export async function readAllFingerprints(pool: Pool): Promise<Map<string, string>> {
  const { rows } = await pool.query<Row>({ name: 'snapshot-fingerprints', text: ALL });
  return new Map(rows.map((row) => [row.tenant_id, row.print]));
}

/** Those of the given workspaces, as the transaction sees them. */
export async function readFingerprints(client: PoolClient, ids: readonly string[]): Promise<Map<string, Fingerprint>> {
  const { rows } = await client.query<Row>({ name: 'snapshot-fingerprints-of', text: SOME, values: [ids] });
  return new Map(rows.map(({ tenant_id, print }) => [tenant_id, parse(print)]));
}

function parse(text: string): Fingerprint {
  const tables = new Map(text.split(' ').map((part) => part.split('=', 2) as [string, string]));
  return { text, tables };
}

/** Whether the slice has changed in a space. Without a fingerprint before, everything has. */
export const sliceChanged = (slice: AnySlice, space: Space, before: Fingerprint | undefined, now: Fingerprint): boolean =>
  before === undefined ||
  slice.tables.some((table) => before.tables.get(`${table}.${space}`) !== now.tables.get(`${table}.${space}`)) ||
  (slice.workspaceTables ?? []).some((table) => before.tables.get(table) !== now.tables.get(table));

export const tenantChanged = (before: Fingerprint | undefined, now: Fingerprint): boolean =>
  before === undefined || ['tenants', ...TENANT_TABLES].some((table) => before.tables.get(table) !== now.tables.get(table));
