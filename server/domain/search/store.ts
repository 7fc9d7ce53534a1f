import { olderCalls } from '#server/domain/request-logs/service.ts';
import { formatRange, parseRange, type Range } from '#server/kernel/address.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { mistyped } from './typing-errors.ts';

/** A find before it has an address in the dashboard. */
export type Document = { type: string; ref_id: string; title: string; subtitle: string | null; badges: string[]; score: number };

/** Documents of the caller's space that hold the words of a text or, asked to forgive, words a typing error away; at most `limit` of each type. */
export async function documentsLike(tx: Tx, text: string, types: readonly string[], limit: number, forgive: boolean): Promise<Document[]> {
  const rows = await tx.$queryRaw<(Document & { alike_words: string | null })[]>`
    select type, ref_id::text, title, subtitle, badges, score::float8 as score, alike_words from find_documents(${text}, ${types}, ${limit}::int, ${forgive})`;
  const left = new Map<string, number>();
  return rows
    .filter(({ alike_words }) => alike_words === null || mistyped(text, alike_words))
    .filter(({ type }) => {
      const room = left.get(type) ?? limit;
      left.set(type, room - 1);
      return room > 0;
    })
    .map(({ alike_words: _, ...row }) => row);
}

/** The resource of an id. */
export async function documentOf(tx: Tx, ctx: Ctx, id: string, types: readonly string[]): Promise<Document[]> {
  const rows = await tx.search_documents.findMany({
    where: { ...own(ctx), ref_id: id, type: { in: [...types] } },
    select: { type: true, ref_id: true, title: true, subtitle: true, badges: true },
  });
  return rows.map((row) => ({ ...row, score: 1 }));
}

/** The call of a request id, if this space logged it. */
export async function requestOf(tx: Tx, ctx: Ctx, id: string): Promise<Document[]> {
  const row = await tx.$queryRaw<{ method: string | null; path: string | null; status_code: number | null }[]>`
    select method, path, status_code from request_logs
    where request_id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and coalesce(sandbox, false) = ${ctx.sandbox} limit 1`;
  const found = row.length > 0 ? row : await olderCalls(ctx, id);
  return found.map(({ method, path, status_code }) => ({
    type: 'request',
    ref_id: id,
    title: [method, path?.split('?')[0]].filter(Boolean).join(' ') || 'Call',
    subtitle: id,
    badges: status_code === null ? [] : [String(status_code)],
    score: 1,
  }));
}

/** Clients that a caller from the address would be, or whose ranges touch the range; those of the fewest addresses first. */
export async function clientsAt(tx: Tx, ctx: Ctx, range: Range, limit: number): Promise<Document[]> {
  const wider = enclosing(range);
  const within = formatRange(range);
  const start =
    range.family === 4
      ? `${within
          .split('/')[0]
          ?.split('.')
          .slice(0, Math.floor(range.bits / 8))
          .join('.')}`
      : '';
  const touches = `${within}${within.includes('/') ? '' : range.family === 4 ? '/32' : '/128'}`;
  // The spellings of every range around the address are looked up in the index; ranges inside a range begin as it does and are compared one by one.
  const rows = await tx.$queryRaw<Omit<Document, 'type' | 'score'>[]>`
    with matching as (
      select id, ip_address as range from clients where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
        and (ip_address = any(${wider}) or (${within.includes('/')} and case when starts_with(ip_address, ${start}) and ip_address ~ '^[0-9a-f:.]+(/[0-9]+)?$' then ip_address::inet <<= ${touches}::inet else false end))
      union
      select client_id, ip_range from client_credentials where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = 'ip'
        and (ip_range = any(${wider}) or (${within.includes('/')} and case when starts_with(ip_range, ${start}) and ip_range ~ '^[0-9a-f:.]+(/[0-9]+)?$' then ip_range::inet <<= ${touches}::inet else false end))
    )
    select d.ref_id::text, d.title, min(m.range) as subtitle, d.badges from matching m join search_documents d on d.ref_id = m.id and d.type = 'client'
    where d.tenant_id = ${ctx.tenant_id}::uuid and d.sandbox = ${ctx.sandbox}
    group by d.ref_id, d.title, d.badges order by max(masklen(m.range::inet)) desc, d.title limit ${limit}::int`;
  return rows.map((row) => ({ ...row, type: 'client', score: 1 }));
}

/** Every spelling of a range that holds the given one whole, itself included. */
function enclosing({ family, first, bits }: Range): string[] {
  const width = family === 4 ? 32 : 128;
  return Array.from({ length: bits }, (_, i) => {
    const shift = BigInt(width - (bits - i));
    return formatRange({ family, first: (first >> shift) << shift, bits: bits - i });
  });
}

/** The address or range that a text is, or null. A lone number or word is none. */
export function rangeOf(text: string): Range | null {
  if (!/[.:]/.test(text)) return null;
  const range = parseRange(text);
  return 'problem' in range ? null : range;
}
