import type { Engine, SqlEngine } from './engines.shared.ts';
import { type Piece, sqlPieces } from './sql-pieces.shared.ts';
import { splitStatements } from './statements.shared.ts';
import { transactionWords } from './transaction-words.shared.ts';
import { userDocumentProblem } from './user-documents.shared.ts';

/** What statements of a role may contain (interface rule 44 §4.2). */
export const PLACEHOLDERS = ['username', 'password', 'expiration', 'database', 'role'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** Values by placeholder. A revocation has no password: it isn't kept. */
export type PlaceholderValues = Partial<Record<Placeholder, string>>;

/** What values consist of, so that none of them can end the quotes it stands in, in any engine. */
const SAFE: Readonly<Record<Placeholder, RegExp>> = {
  username: /^[a-z0-9_]{1,63}$/,
  password: /^[A-Za-z0-9_-]{1,128}$/,
  expiration: /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\+00$/,
  database: /^[A-Za-z0-9_-]{1,63}$/,
  role: /^[a-z0-9][a-z0-9_-]{0,62}$/,
};

/** Characters of {{…}} that are looked at; every known one is shorter. */
const LONGEST = 32;

type Found = { placeholder: Placeholder | null; text: string; from: number; to: number };

/** Every {{…}} of a text in order; the placeholder of an unknown one is null. Nothing stands between the braces but the name. */
export function placeholdersIn(text: string): Found[] {
  const found: Found[] = [];
  for (let from = text.indexOf('{{'); from !== -1; ) {
    const length = text.slice(from, from + LONGEST).indexOf('}}');
    const to = length === -1 ? Math.min(text.length, from + LONGEST) : from + length + 2;
    const name = text.slice(from + 2, to - 2);
    const placeholder = name === 'name' ? 'username' : (PLACEHOLDERS.find((known) => known === name) ?? null);
    found.push({ placeholder, text: text.slice(from, to), from, to });
    from = text.indexOf('{{', placeholder ? to : from + 2);
  }
  return found;
}

export const uses = (text: string, placeholder: Placeholder): boolean =>
  placeholdersIn(text).some((found) => found.placeholder === placeholder);

/** What is wrong with the statements that create users, as a sentence without subject and period; null if nothing is. */
export function creationProblem(text: string, engine: Engine): string | null {
  // Read again as parsed: a brace may be written as \u007b.
  if (engine === 'mongo') return unknownProblem(text) ?? userDocumentProblem(text) ?? unknownProblem(JSON.stringify(JSON.parse(text)));
  return unknownProblem(text) ?? missingProblem(text, ['username', 'password']) ?? sqlProblem(text, engine);
}

/** The same for the statements that remove users. */
export function revocationProblem(text: string, engine: Engine): string | null {
  if (engine === 'mongo') return 'must be absent: users of MongoDB are removed with dropUser';
  if (uses(text, 'password')) return "can't contain {{password}}: passwords aren't stored";
  return unknownProblem(text) ?? missingProblem(text, ['username']) ?? sqlProblem(text, engine);
}

function unknownProblem(text: string): string | null {
  const unknown = placeholdersIn(text).find(({ placeholder }) => placeholder === null);
  if (!unknown) return null;
  return `contains the unknown placeholder ${unknown.text}; known are ${PLACEHOLDERS.map((name) => `{{${name}}}`).join(', ')}`;
}

function missingProblem(text: string, needed: readonly Placeholder[]): string | null {
  const missing = needed.find((placeholder) => !uses(text, placeholder));
  return missing ? `must contain {{${missing}}}` : null;
}

function sqlProblem(text: string, engine: SqlEngine): string | null {
  const { statements, problem } = splitStatements(text, engine);
  if (problem) return problem;
  if (statements.length === 0) return 'contains no statement';
  const words = statements.map((statement) => transactionWords(statement, engine)).find((found) => found !== null);
  if (words) return `can't contain ${words}: ${TRANSACTIONS[engine]}. Leave it out`;
  const bare = bareIn(text, engine).find(({ placeholder }) => placeholder === 'password' || placeholder === 'expiration');
  return bare ? `must have ${bare.text} in quotes` : null;
}

/** Why statements need no transaction of their own, and could lose a part of it when they are repeated after a conflict. */
const TRANSACTIONS: Readonly<Record<SqlEngine, string>> = {
  postgres: 'the statements of a creation run in one transaction, those of a removal each in its own',
  mssql: 'the statements of a creation run in one transaction, those of a removal each in its own',
  mysql: 'each statement runs in a transaction of its own, and is repeated after a conflict with another session',
};

/** Placeholders outside of quotes and comments, where two hyphens of a value would begin a comment. */
function bareIn(text: string, engine: SqlEngine): Found[] {
  const { pieces } = sqlPieces(text, engine);
  const all = placeholdersIn(text);
  let at = 0;
  return all.filter(({ from, to }) => {
    while (at < pieces.length && (pieces[at] as Piece).to <= from) at += 1;
    const piece = pieces[at];
    return !piece || piece.kind === 'code' || piece.to < to;
  });
}

/** Why values can't stand where they would, as a sentence without subject and period: a name with two hyphens outside of quotes. Null if they can. */
export function placementProblem(text: string, engine: SqlEngine, values: PlaceholderValues): string | null {
  const bare = bareIn(text, engine).find(({ placeholder }) => placeholder && values[placeholder]?.includes('--'));
  return bare ? `must have ${bare.text} in quotes, since its value contains two hyphens` : null;
}

/**
 * The statements of a script with its placeholders filled in, in one pass: a value is never read again. Throws if a value is missing or could leave its
 * quotes, which callers make impossible, and if the script isn't one that `creationProblem` or `revocationProblem` accepts.
 */
export function renderStatements(text: string, engine: SqlEngine, values: PlaceholderValues): string[] {
  const misplaced = placementProblem(text, engine, values);
  if (misplaced) throw new Error(`The statements ${misplaced}.`);
  const { statements, problem } = splitStatements(text, engine);
  if (problem) throw new Error(`The statements can't be split: ${problem}.`);
  return statements.map((statement) => fillIn(statement, values, engine));
}

/** A text with its placeholders filled in; see `renderStatements`. */
export function fillIn(text: string, values: PlaceholderValues, engine: Engine): string {
  let filled = '';
  let at = 0;
  for (const { placeholder, from, to } of placeholdersIn(text)) {
    const value = placeholder && values[placeholder];
    if (!value || !SAFE[placeholder].test(value)) throw new Error(`{{${placeholder ?? '…'}}} has no value that is safe to fill in.`);
    const named = engine === 'mysql' && placeholder === 'database' && isGrantObject(text, from, to);
    // GRANT … ON `a_b`.* of MySQL takes the underscore for any character, and would open the database axb too.
    filled += text.slice(at, from) + (named ? value.replaceAll('_', '\\_') : value);
    at = to;
  }
  return filled + text.slice(at);
}

/** Whether a database of MySQL is named as the object of GRANT or REVOKE: ON `{{database}}`. */
const isGrantObject = (text: string, from: number, to: number): boolean =>
  text.startsWith('`.', to) && /(?:^|\s)ON\s{1,8}`$/i.test(text.slice(Math.max(0, from - 14), from));

/** A moment as statements have it: YYYY-MM-DD HH:MM:SS+00, whole seconds. */
export const expirationText = (moment: Date): string => `${moment.toISOString().slice(0, 19).replace('T', ' ')}+00`;
