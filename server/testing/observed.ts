import pg from 'pg';

export type Statement = { text: string; values: unknown[] };
/** What work answers, with the statements that it sent. */
export async function observed<T>(work: () => Promise<T>): Promise<{ rows: T; statements: Statement[] }> {
  const { query } = pg.Client.prototype;
  const statements: Statement[] = [];
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [given, values] = args as [string | Statement, unknown[]];
    statements.push(
      typeof given === 'string' ? { text: given, values: values ?? [] } : { text: given.text, values: given.values ?? values ?? [] },
    );
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    return { rows: await work(), statements };
  } finally {
    pg.Client.prototype.query = query;
  }
}
