import type { PoolClient, Submittable } from 'pg';

// PostgreSQL's COPY, which takes a row at half the cost of any INSERT: most of an INSERT of many rows is taking its JSON or arrays apart.

/** A column's value: `json` for objects, `array` for lists of texts, `plain` for everything whose text PostgreSQL reads by itself. */
export type CopyColumn = 'plain' | 'array' | 'json';

/** Copies rows into a table, inside the client's transaction. Rejects with the database's error; then none of the rows is there. */
export function copyRows<R extends object>(
  client: PoolClient,
  table: string,
  columns: Readonly<Record<keyof R & string, CopyColumn>>,
  rows: readonly R[],
): Promise<void> {
  const list = Object.entries(columns) as [keyof R & string, CopyColumn][];
  let text = '';
  for (const row of rows) {
    for (let i = 0; i < list.length; i++) {
      const [name, kind] = list[i] as [keyof R & string, CopyColumn];
      text += (i === 0 ? '' : '\t') + field(row[name], kind);
    }
    text += '\n';
  }
  const names = list.map(([name]) => name).join(', ');
  return new Promise((resolve, reject) => {
    client.query(new CopyIn(`copy ${table} (${names}) from stdin`, Buffer.from(text), (error) => (error ? reject(error) : resolve())));
  });
}

/** A field in COPY's text format: `\N` for null, a backslash before what would end or change it. */
function field(value: unknown, kind: CopyColumn): string {
  if (value === null || value === undefined) return '\\N';
  if (typeof value === 'string') return escaped(value);
  if (kind === 'json') return escaped(JSON.stringify(value));
  if (kind === 'array') return escaped(arrayOf(value as readonly string[]));
  return String(value);
}

const escaped = (text: string): string => (SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, (c) => ESCAPES[c] as string) : text);
const SPECIAL = /[\\\t\n\r]/;
const EVERY_SPECIAL = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** An array literal with every element quoted, so that none is taken for NULL or for structure. */
const arrayOf = (items: readonly string[]): string =>
  items.length === 0 ? '{}' : `{${items.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** What the driver's connection offers beyond its published types. */
type CopyConnection = { query(text: string): void; sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void };

/** The driver's interface for statements of other kinds; it puts its own timeout around `callback`. */
class CopyIn implements Submittable {
  callback: (error: Error | null) => void;
  readonly #text: string;
  readonly #data: Buffer;
  #failed = false;

  constructor(text: string, data: Buffer, callback: (error: Error | null) => void) {
    this.#text = text;
    this.#data = data;
    this.callback = callback;
  }

  submit(connection: unknown): void {
    (connection as CopyConnection).query(this.#text);
  }

  handleCopyInResponse(connection: unknown): void {
    (connection as CopyConnection).sendCopyFromChunk(this.#data);
    (connection as CopyConnection).endCopyFrom();
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#failed = true;
    this.callback(error);
  }

  handleReadyForQuery(): void {
    if (!this.#failed) this.callback(null);
  }
}
