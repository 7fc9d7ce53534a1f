import { z } from 'zod';
import { grouped } from './numbers.ts';

/** Rows beyond this offset are never read (interface rule 00, Limits; worked table in 01 §6.1). */
const OFFSET_CEILING = 100_000;

export type PageRequest = { page: number; per_page: number };
export type Page<T> = { rows: T[]; total: number; page: number; per_page: number; total_pages: number };

const integer = () =>
  z
    .union([
      z.number(),
      z
        .string()
        .regex(/^[+-]?\d{1,30}$/, `must be a whole number`)
        .transform(Number),
    ])
    .refine((n) => Number.isInteger(n), `must be a whole number`)
    .meta({ type: 'integer' });

const order = z.enum(['asc', 'desc']);

/** Page and per_page alone, for lists with a fixed order. */
export const pageQuery = { page: integer().default(1), per_page: integer().default(20) };

/**
 * The query of a paged list: page, per_page, sort, order and the list's own filters. Out-of-range numbers are clamped, nonsense is refused.
 * `sorts` are column names; the first is not the default unless `sort` says so.
 */
export function listQuery<const S extends readonly [string, ...string[]], F extends z.ZodRawShape>(options: {
  sorts: S;
  sort: S[number];
  order: 'asc' | 'desc';
  filters?: F;
}) {
  return z.object({
    ...pageQuery,
    sort: z.enum(options.sorts).default(options.sort as never),
    order: order.default(options.order),
    ...(options.filters ?? ({} as F)),
  });
}

/** Effective page, page size and offset, which is at most the ceiling. */
export function clampPage({ page, per_page }: PageRequest, ceiling = OFFSET_CEILING): { page: number; per_page: number; skip: number } {
  const size = Math.min(Math.max(per_page, 1), 100);
  const last = lastPage(size, ceiling);
  const effective = Math.min(Math.max(page, 1), last);
  return { page: effective, per_page: size, skip: (effective - 1) * size };
}

/** meta of a page: total is the true count, total_pages stops at the offset ceiling. */
export function pageOf<T>(rows: T[], total: number, request: PageRequest): Page<T> {
  const { page, per_page } = clampPage(request);
  return { rows, total, page, per_page, total_pages: Math.min(Math.ceil(total / per_page), lastPage(per_page)) };
}

/**
 * What a caller must know of a page that isn't the one they asked for, for meta.warnings: numbers that were out of range, and rows that no page reaches. A
 * client that reads pages until one is empty would read the deepest page for ever.
 */
export function pageWarnings(request: PageRequest, { total, page, per_page, total_pages }: Omit<Page<unknown>, 'rows'>): string[] {
  const warnings: string[] = [];
  if (per_page !== request.per_page)
    warnings.push(`per_page must be between 1 and 100. This page has up to ${per_page === 1 ? '1 row' : `${per_page} rows`}.`);
  if (request.page < 1) warnings.push('page must be at least 1. This is page 1.');
  const unreached = total > total_pages * per_page;
  const deepest = lastPage(per_page);
  if (request.page > deepest || (unreached && page === deepest))
    warnings.push(
      `This is page ${grouped(page)}, the last one that can be read: pages reach about 100,000 rows${unreached ? `, and the list has ${grouped(total)}` : ''}. ` +
        'Stop at meta.total_pages; narrow the list by its filters to read the others, or follow its feed by cursor where it has one.',
    );
  return warnings;
}

/** A page of rows that are all in memory: of lists whose number of rows has a bound of its own. */
export function pageOfAll<T>(rows: readonly T[], request: PageRequest): Page<T> {
  const { skip, per_page } = clampPage(request);
  return pageOf(rows.slice(skip, skip + per_page), rows.length, request);
}

/** An unpaged list in the list envelope (interface rule 01 §3). */
export function wholeList<T>(rows: T[]): Page<T> {
  return { rows, total: rows.length, page: 1, per_page: Math.max(rows.length, 1), total_pages: rows.length === 0 ? 0 : 1 };
}

/** Offset and limit of a page from the beginning of the order; a page behind the last takes nothing. */
export function pageFromStart(request: PageRequest, total: number): { skip: number; take: number } {
  const { skip, per_page } = clampPage(request);
  return { skip, take: Math.max(0, Math.min(per_page, total - skip)) };
}

/**
 * Offset and limit of a page, counted from the nearer end of the order. `backwards` rows are read in the reverse order and must be reversed. A page behind
 * the last passes over nothing.
 */
export function pageWindow(asked: PageRequest & { order: 'asc' | 'desc' }, total: number) {
  const { skip, take } = pageFromStart(asked, total);
  const behind = total - skip - take;
  const backwards = take > 0 && behind < skip;
  const order: 'asc' | 'desc' = (asked.order === 'asc') === backwards ? 'desc' : 'asc';
  return { take, skip: take === 0 ? 0 : backwards ? behind : skip, order, backwards };
}

const lastPage = (perPage: number, ceiling = OFFSET_CEILING) => Math.floor(ceiling / perPage) + 1;
