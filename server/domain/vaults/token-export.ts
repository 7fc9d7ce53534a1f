import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { csvLine } from '#server/kernel/raw-body.ts';
import type { ExportTokens } from './schema.ts';
import { LISTED, listedToken, vaultByRef } from './store.ts';

const COLUMNS = ['id', 'token', 'created_at', 'expires_at', 'card_expires_on', 'created_by_api_key_id', 'created_by_user_id'] as const;

/** The next live tokens of a vault in the order they were made, as a part of a file; without values and metadata. @throws Refusal not_found */
export const exportTokens = (ctx: Ctx, { vault, format, after, limit }: z.output<typeof ExportTokens>) =>
  read(ctx, async (tx) => {
    const { id } = await vaultByRef(tx, ctx, vault);
    // Ids grow with the time they were made at.
    const rows = await tx.vault_tokens.findMany({
      where: { ...own(ctx), vault_id: id, deleted_at: null, ...(after === undefined ? {} : { id: { gt: after } }) },
      orderBy: { id: 'asc' },
      take: limit + 1,
      select: LISTED,
    });
    const shown = rows.slice(0, limit).map(listedToken);
    const head = format === 'csv' && after === undefined ? csvLine(COLUMNS) : '';
    return {
      content: head + shown.map(format === 'csv' ? csvRow : (row) => `${JSON.stringify(row)}\n`).join(''),
      count: shown.length,
      next_after: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
    };
  });

const csvRow = (row: ReturnType<typeof listedToken>): string =>
  csvLine(
    COLUMNS.map((column) => {
      const cell = row[column];
      return cell instanceof Date ? cell.toISOString() : cell;
    }),
  );
