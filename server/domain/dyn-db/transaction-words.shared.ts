import type { SqlEngine } from './engines.shared.ts';
import { sqlPieces } from './sql-pieces.shared.ts';

/**
 * What begins or ends a transaction, at the beginning of a statement. Savepoints are within one: ROLLBACK TO stays, and so does BEGIN … END of T-SQL, which is a
 * block.
 */
const WORDS: Readonly<Record<SqlEngine, RegExp>> = {
  postgres: /^(?:BEGIN|START\s+TRANSACTION|COMMIT|END|ABORT|PREPARE\s+TRANSACTION|ROLLBACK(?!\s+(?:(?:WORK|TRANSACTION)\s+)?TO\b))\b/i,
  mysql:
    /^(?:BEGIN|START\s+TRANSACTION|COMMIT|XA|ROLLBACK(?!\s+(?:WORK\s+)?TO\b)|SET\s+(?:(?:SESSION|LOCAL)\s+|@@(?:SESSION\.|LOCAL\.)?)?AUTOCOMMIT)\b/i,
  mssql: /^(?:BEGIN\s+(?:DISTRIBUTED\s+)?TRAN(?:SACTION)?|COMMIT|ROLLBACK|SET\s+IMPLICIT_TRANSACTIONS)\b/i,
};

/** The words of a statement that begin or end a transaction; null when it does neither. */
export function transactionWords(statement: string, engine: SqlEngine): string | null {
  const { pieces } = sqlPieces(statement, engine);
  for (const { kind, from, to } of pieces) {
    if (kind === 'quoted') return null;
    // MySQL runs what stands in /*! … */.
    const code = kind === 'code' ? statement.slice(from, Math.min(to, from + LONGEST)).replace(/^[\s(]*(?:\/\*M?!\d{0,6}\s*)?/, '') : '';
    if (code !== '') return WORDS[engine].exec(code)?.[0]?.toUpperCase().replace(/\s+/g, ' ') ?? null;
  }
  return null;
}

const LONGEST = 200;
