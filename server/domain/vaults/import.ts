import type { z } from 'zod';
import { vaultDisabled } from '#server/custody/vaults/issued.ts';
import { checkedItem } from '#server/custody/vaults/items.ts';
import { type TokenizeItem, tokenize } from '#server/custody/vaults/tokenize.ts';
import { findVault } from '#server/custody/vaults/vaults.ts';
import { BODY_SHAPE, parseKept } from '#server/kernel/bounded-text.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid, notFound } from '#server/kernel/errors.ts';
import { LosslessNumber } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { inSlices, mapped, type Steps } from '#server/kernel/slices.ts';
import { csvRecords } from './csv-records.ts';
import { type ImportTokens, Tokenize } from './schema.ts';

const MOST_ROWS = 10_000;
type Columns = z.output<typeof ImportTokens>['columns'];
type Fields = Readonly<Record<string, unknown>>;

/**
 * Tokenizes the rows of a file, with the tokens that another vault gave them where a column holds those. All rows or none.
 * @throws Refusal not_found, validation_error with the row, vault_disabled, conflict for a token that is taken, plan_limit, tenant_sealed
 */
export async function importTokens(ctx: Ctx, { vault: ref, format, content, columns, dry_run }: z.output<typeof ImportTokens>) {
  const vault = await findVault(ctx, ref);
  if (!vault) throw notFound();
  if (!vault.enabled) throw vaultDisabled();
  const rows = await inSlices(rowSteps(format === 'csv' ? csvRows(content, columns) : jsonRows(content)));
  if (rows.length === 0) throw invalid('content', 'has no rows');
  const items = await mapped(rows, (fields, i) => itemOf(fields, columns, i));
  await mapped(items, (item, i) => checkedItem(vault, item, naming(i)));
  if (dry_run) return { rows: rows.length, imported: 0, reused: 0, dry_run, tokens: [] };
  const tokens = await tokenize(ctx, vault, items, { naming, via: { via: 'import' } });
  const reused = tokens.filter((token) => token.reused).length;
  return { rows: rows.length, imported: tokens.length - reused, reused, dry_run, tokens: tokens.map(({ token }) => token) };
}

function* rowSteps(found: Iterable<Fields>): Steps<Fields[]> {
  const rows: Fields[] = [];
  for (const row of found) {
    if (rows.length === MOST_ROWS) throw invalid('content', `has more than ${grouped(MOST_ROWS)} rows; send at most so many at a time`);
    if (rows.push(row) % 32 === 0) yield;
  }
  return rows;
}

const naming = (i: number) => `rows[${i}]`;

/** Only the columns that are asked for: a file may have very many. */
export function* csvRows(content: string, columns: Columns): Iterable<Fields> {
  const records = csvRecords(content);
  const head = new Map((records.next().value ?? []).map((name, i) => [name, i]));
  const { value, token, ttl_seconds, card_exp_month, card_exp_year, metadata = {} } = columns;
  const asked = new Map<string, number>();
  for (const column of [value, token, ttl_seconds, card_exp_month, card_exp_year, ...Object.values(metadata)]) {
    if (column === undefined) continue;
    const at = head.get(column);
    if (at === undefined) throw invalid('columns', `the file has no column ${JSON.stringify(column.slice(0, 60))}`);
    asked.set(column, at);
  }
  for (const record of records)
    yield Object.fromEntries([...asked].map(([name, i]) => [name, record[i] === '' ? undefined : record[i]] as const));
}

function* jsonRows(content: string): Iterable<Fields> {
  for (const [i, line] of content
    .split('\n')
    .filter((text) => text.trim() !== '')
    .entries()) {
    let row: unknown;
    try {
      row = parseKept(line, BODY_SHAPE);
    } catch {
      throw invalid(naming(i), 'must be a JSON object on one line, without a name twice');
    }
    if (typeof row !== 'object' || row === null || Array.isArray(row)) throw invalid(naming(i), 'must be a JSON object on one line');
    yield row as Fields;
  }
}

/** One row by the rules of one call. The message names the row and never shows what is in it. */
function itemOf(fields: Fields, columns: Columns, i: number): TokenizeItem {
  const number = (column: string | undefined) => {
    const given = column === undefined ? undefined : fields[column];
    return typeof given === 'string' ? (/^[0-9]{1,9}$/.test(given) ? Number(given) : Number.NaN) : given;
  };
  const text = (column: string | undefined) => {
    const given = column === undefined ? undefined : fields[column];
    return typeof given === 'number' || given instanceof LosslessNumber ? String(given) : given;
  };
  const metadata = Object.entries(columns.metadata ?? {}).flatMap(([name, column]) =>
    fields[column] === undefined ? [] : [[name, fields[column]] as const],
  );
  const parsed = Tokenize.safeParse({
    vault: '',
    value: text(columns.value),
    token: text(columns.token),
    ttl_seconds: number(columns.ttl_seconds),
    card_exp_month: number(columns.card_exp_month),
    card_exp_year: number(columns.card_exp_year),
    ...(metadata.length > 0 ? { metadata: Object.fromEntries(metadata) } : {}),
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(`${naming(i)}: ${issue?.path.join('.') || 'row'}`, issue?.message ?? 'is not valid');
}
