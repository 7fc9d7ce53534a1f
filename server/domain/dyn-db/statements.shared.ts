import type { SqlEngine } from './engines.shared.ts';
import { isSpace, type Piece, sqlPieces } from './sql-pieces.shared.ts';

/** The statements of a script, trimmed, without their semicolons. A problem is a sentence about what never ends; there are no statements then. */
export type Split = { statements: string[]; problem: string | null };

/**
 * Splits a script at semicolons outside of quotes, dollar quotes and comments (interface rule 44 §4.2). What holds only white space and comments is no
 * statement. Bodies with semicolons of their own (BEGIN … END) must be quoted: split as any other text, they arrive in parts and the server refuses them.
 */
export function splitStatements(sql: string, engine: SqlEngine): Split {
  const { pieces, unclosed } = sqlPieces(sql, engine);
  if (unclosed) {
    const line = sql.slice(0, unclosed.from).split('\n').length;
    return { statements: [], problem: `the ${unclosed.kind === 'quoted' ? 'quote' : 'comment'} that begins in line ${line} never ends` };
  }
  const statements: string[] = [];
  let from = 0;
  let says = false;
  const close = (to: number) => {
    if (says) statements.push(trimmed(sql, from, to));
    says = false;
  };
  for (const piece of pieces) {
    if (piece.kind === 'end') {
      close(piece.from);
      from = piece.to;
    } else says ||= piece.kind === 'quoted' || (piece.kind === 'code' && hasText(sql, piece));
  }
  close(sql.length);
  return { statements, problem: null };
}

function hasText(sql: string, { from, to }: Piece): boolean {
  for (let at = from; at < to; at += 1) if (!isSpace(sql.charAt(at))) return true;
  return false;
}

function trimmed(sql: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isSpace(sql.charAt(start))) start += 1;
  while (end > start && isSpace(sql.charAt(end - 1))) end -= 1;
  return sql.slice(start, end);
}
