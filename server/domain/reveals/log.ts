import type { z } from 'zod';
import {
  actorsOfBothSpaces,
  type EntryPlace,
  entriesOfBothSpaces,
  type LocatedView,
  pageOfBothSpaces,
} from '#server/domain/audit-logs/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { Page } from '#server/kernel/page.ts';
import { csvLine, download, type RawBody } from '#server/kernel/raw-body.ts';
import type { ExportReveals, ListReveals, RevealEntry } from './schema.ts';

type Row = z.input<typeof RevealEntry>;
type Filters = z.output<typeof ExportReveals>;

const REVEALS = { action: 'plaintext.reveal', store: 'general' } as const;
/** Facets are counted over this many entries of each space. */
const NEWEST = 5_000;
const BATCH = 100;
const MOST_ROWS = 100_000;

/** Who saw which stored value, newest first, in Live and Test (interface rule 32 §7). */
export async function listReveals(ctx: Ctx, { page, per_page, ...filters }: z.output<typeof ListReveals>): Promise<Page<Row>> {
  const found = await pageOfBothSpaces(ctx, { ...filters, ...REVEALS }, { page, per_page });
  return { ...found, rows: found.rows.map(rowOf) };
}

export const revealingPeople = async (ctx: Ctx) => ({ people: await actorsOfBothSpaces(ctx, REVEALS, NEWEST) });

/** The same as CSV. Recorded before the first line leaves. */
export async function exportReveals(ctx: Ctx, filters: Filters): Promise<RawBody> {
  await mutate(ctx, async () =>
    audited(undefined, {
      action: 'export',
      resource_type: 'audit_log',
      resource_id: null,
      name: 'Reveal log',
      details: { format: 'csv', filters: { ...filters, ...REVEALS } },
      workspace_level: true,
    }),
  );
  return download('text/csv; charset=utf-8; header=present', `reveal-log-${ctx.now.toISOString().slice(0, 10)}.csv`, lines(ctx, filters));
}

async function* lines(ctx: Ctx, filters: Filters): AsyncGenerator<string> {
  yield csvLine([...COLUMNS]);
  // What is revealed meanwhile must not push a row from one page to the next.
  const until = { to: ctx.now.toISOString(), ...filters };
  let before: EntryPlace | undefined;
  for (let sent = 0; sent < MOST_ROWS; sent += BATCH) {
    const { rows, last } = await entriesOfBothSpaces(ctx, { ...until, ...REVEALS }, { before, limit: BATCH });
    if (rows.length > 0) yield rows.map((row) => csvLine(COLUMNS.map((column) => cellOf(rowOf(row), column)))).join('');
    if (rows.length < BATCH) return;
    before = last;
  }
}

const COLUMNS = [
  ...(['id', 'created_at', 'space', 'person_id', 'person', 'resource_type', 'resource_id', 'name', 'environment', 'class'] as const),
  ...(['method', 'reason', 'outcome', 'ip_address', 'ip_country'] as const),
] as const;

function cellOf(row: Row, column: (typeof COLUMNS)[number]): string | null {
  switch (column) {
    case 'space':
      return row.sandbox ? 'test' : 'live';
    case 'person_id':
      return row.actor.id;
    case 'person':
      return row.actor.label;
    case 'created_at':
      return new Date(row.created_at).toISOString();
    default:
      return row[column];
  }
}

function rowOf({ details, actor, details_redacted = false, ...entry }: LocatedView): Row {
  const told = (field: string) => (typeof details[field] === 'string' ? (details[field] as string) : null);
  const { id, created_at, sandbox, resource_type, resource_id, ip_address, ip_country } = entry;
  return {
    ...{ id, created_at, sandbox, actor, resource_type, resource_id, ip_address, ip_country, details_redacted },
    ...{ name: told('name'), environment: told('environment'), reason: told('reason') },
    class: told('class') as Row['class'],
    method: told('method') as Row['method'],
    outcome: told('outcome') as Row['outcome'],
  };
}
