import type { SqlEngine } from './engines.shared.ts';

/** A stretch of a script: code, something quoted, a comment, or the semicolon that ends a statement. Positions are UTF-16 units. */
export type Piece = { kind: 'code' | 'quoted' | 'comment' | 'end'; from: number; to: number };

/** The pieces of a script from its first to its last character. `unclosed` is a quote or comment that never ends. */
export type Pieces = { pieces: Piece[]; unclosed: Piece | null };

/**
 * Cuts a script where the lexer of its server would: PostgreSQL with standard_conforming_strings, MySQL and MariaDB without ANSI_QUOTES and
 * NO_BACKSLASH_ESCAPES, T-SQL with any QUOTED_IDENTIFIER. Takes linear time.
 */
export function sqlPieces(sql: string, engine: SqlEngine): Pieces {
  const pieces: Piece[] = [];
  let at = 0;
  let code = 0;
  let depth = 0;
  let opened = 0;
  const flush = () => {
    if (at > code) pieces.push({ kind: 'code', from: code, to: at });
  };
  while (at < sql.length) {
    const found = LEXERS[engine](sql, at);
    if (found) {
      flush();
      const piece: Piece = { kind: found.kind, from: at, to: found.to ?? sql.length };
      pieces.push(piece);
      if (found.to === null) return { pieces, unclosed: piece };
      at = code = found.to;
    } else if (sql[at] === ';' && depth === 0) {
      flush();
      pieces.push({ kind: 'end', from: at, to: at + 1 });
      at = code = at + 1;
    } else if (engine === 'mysql' && opensExecutable(sql, at)) {
      depth += 1;
      opened = at;
      at += 3;
    } else if (engine === 'mysql' && depth > 0 && sql.startsWith('*/', at)) {
      depth -= 1;
      at += 2;
    } else {
      // A rule's commands stand between parentheses, with semicolons: CREATE RULE … DO ALSO (a; b).
      if (engine === 'postgres' && sql[at] === '(') depth += 1;
      if (engine === 'postgres' && sql[at] === ')') depth = Math.max(0, depth - 1);
      at = engine === 'postgres' ? wordEnd(sql, at) : at + 1;
    }
  }
  flush();
  if (engine === 'mysql' && depth > 0) return { pieces, unclosed: { kind: 'comment', from: opened, to: sql.length } };
  return { pieces, unclosed: null };
}

/** What begins at a position, with its end; an end of null was not found. Undefined where code goes on. */
type Found = { kind: 'quoted' | 'comment'; to: number | null } | undefined;

const LEXERS: Readonly<Record<SqlEngine, (sql: string, at: number) => Found>> = {
  postgres(sql, at) {
    const character = sql[at];
    if (character === "'") return { kind: 'quoted', to: doubledEnd(sql, at + 1, "'") };
    if (character === '"') return { kind: 'quoted', to: doubledEnd(sql, at + 1, '"') };
    if ((character === 'e' || character === 'E') && sql[at + 1] === "'") return { kind: 'quoted', to: escapeStringEnd(sql, at + 2) };
    if (character === '$') return dollarQuote(sql, at);
    if (sql.startsWith('--', at)) return { kind: 'comment', to: lineEnd(sql, at, true) };
    if (sql.startsWith('/*', at)) return { kind: 'comment', to: nestedCommentEnd(sql, at + 2) };
  },
  mysql(sql, at) {
    const character = sql[at];
    if (character === "'" || character === '"') return { kind: 'quoted', to: backslashedEnd(sql, at + 1, character) };
    if (character === '`') return { kind: 'quoted', to: doubledEnd(sql, at + 1, '`') };
    if (character === '#') return { kind: 'comment', to: lineEnd(sql, at, false) };
    // The second hyphen needs a space, a control character or the end after it; 1--1 is a subtraction.
    if (sql.startsWith('--', at) && (at + 2 >= sql.length || sql.charCodeAt(at + 2) <= 32 || sql.charCodeAt(at + 2) === 127))
      return { kind: 'comment', to: lineEnd(sql, at, false) };
    if (sql.startsWith('/*', at) && !opensExecutable(sql, at)) return { kind: 'comment', to: after(sql, '*/', at + 2) };
  },
  mssql(sql, at) {
    const character = sql[at];
    if (character === "'" || character === '"') return { kind: 'quoted', to: doubledEnd(sql, at + 1, character) };
    if (character === '[') return { kind: 'quoted', to: doubledEnd(sql, at + 1, ']') };
    if (sql.startsWith('--', at)) return { kind: 'comment', to: lineEnd(sql, at, false) };
    if (sql.startsWith('/*', at)) return { kind: 'comment', to: nestedCommentEnd(sql, at + 2) };
  },
};

/** MySQL and MariaDB run what stands in these comments, so it is code, of one statement. */
const opensExecutable = (sql: string, at: number) => sql.startsWith('/*!', at) || sql.startsWith('/*M!', at);

/**
 * The end of the character, word or number at a position: the letter E or a dollar sign within a word begins nothing. PostgreSQL's names contain dollar
 * signs, its numbers don't.
 */
function wordEnd(sql: string, at: number): number {
  const first = sql.charCodeAt(at);
  let end = at + 1;
  if (isWord(first)) while (isWord(sql.charCodeAt(end)) || (!isDigit(first) && sql[end] === '$')) end += 1;
  return end;
}

const isDigit = (code: number) => code >= 48 && code <= 57;
const isWord = (code: number) => isDigit(code) || isWordStart(code);
const isWordStart = (code: number) => (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code >= 128;

/** After the closing quote of text where that quote is written twice. */
function doubledEnd(sql: string, from: number, quote: string): number | null {
  for (let at = from; ; at += 2) {
    at = sql.indexOf(quote, at);
    if (at === -1) return null;
    if (sql[at + 1] !== quote) return at + 1;
  }
}

/** The same where a backslash takes the next character's meaning as well. */
function backslashedEnd(sql: string, from: number, quote: string): number | null {
  for (let at = from; at < sql.length; at += 1) {
    if (sql[at] === '\\') at += 1;
    else if (sql[at] === quote && sql[at + 1] === quote) at += 1;
    else if (sql[at] === quote) return at + 1;
  }
  return null;
}

/** E'…' of PostgreSQL goes on in the next quotes when only white space with a line break stands between, and backslashes escape there too. */
function escapeStringEnd(sql: string, from: number): number | null {
  for (let end = backslashedEnd(sql, from, "'"); ; ) {
    if (end === null) return null;
    const next = continuation(sql, end);
    if (next === null) return end;
    end = backslashedEnd(sql, next, "'");
  }
}

function continuation(sql: string, from: number): number | null {
  let broken = false;
  for (let at = from; at < sql.length; ) {
    const character = sql[at] as string;
    if (character === "'") return broken ? at + 1 : null;
    if (character === '\n' || character === '\r') broken = true;
    if (sql.startsWith('--', at)) at = lineEnd(sql, at, true);
    else if (isSpace(character)) at += 1;
    else return null;
  }
  return null;
}

/** White space of servers, which is less than what JavaScript takes for it. */
export const isSpace = (character: string): boolean => ' \t\n\r\f\v'.includes(character);

/** $tag$ … $tag$. A dollar sign that begins no tag is a parameter or an error, and code to us. */
function dollarQuote(sql: string, at: number): Found {
  let end = at + 1;
  if (isWordStart(sql.charCodeAt(end))) while (isWord(sql.charCodeAt(end))) end += 1;
  if (sql[end] !== '$') return;
  return { kind: 'quoted', to: after(sql, sql.slice(at, end + 1), end + 1) };
}

/** The line break that ends a comment, or the end of the script. Only PostgreSQL ends it at a carriage return. */
function lineEnd(sql: string, from: number, returns: boolean): number {
  for (let at = from; at < sql.length; at += 1) if (sql[at] === '\n' || (returns && sql[at] === '\r')) return at;
  return sql.length;
}

function nestedCommentEnd(sql: string, from: number): number | null {
  let depth = 1;
  for (let at = from; at < sql.length - 1; at += 1) {
    const two = sql.slice(at, at + 2);
    if (two === '/*') depth += 1;
    else if (two === '*/') depth -= 1;
    else continue;
    at += 1;
    if (depth === 0) return at + 1;
  }
  return null;
}

function after(sql: string, text: string, from: number): number | null {
  const at = sql.indexOf(text, from);
  return at === -1 ? null : at + text.length;
}
