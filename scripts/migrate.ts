// npm run migrate   brings the database of DATABASE_URL to this version and ends, for installations whose processes start alone. `npm start` does it by itself.
import { failInWords, Problem } from './command.ts';
import { settingsOfMigration } from './installation.ts';
import { migrate, migrationState } from './schema.ts';

failInWords();
const { DATABASE_URL, CLICKHOUSE_URL } = await settingsOfMigration((text) => console.error(text));
if (DATABASE_URL === undefined) throw new Problem('Set DATABASE_URL. The embedded database is migrated by npm start.');
const { missing, unknown } = await migrationState(DATABASE_URL);
await migrate(DATABASE_URL);
console.log(
  missing.length === 0 ? 'The database is up to date.' : `Applied ${missing.length} migrations, the last of them ${missing.sort().at(-1)}.`,
);
if (CLICKHOUSE_URL !== undefined) console.log(await clickHouse());
if (unknown.length > 0) console.error(`The database was used by a newer version of Sallyport: it has ${unknown.join(', ')}.`);

/** What can't be done now the worker does once ClickHouse is there; calls wait for it in PostgreSQL. */
async function clickHouse(): Promise<string> {
  const [{ prepareTable }, { closeClickHouse }, { closeSql }] = await Promise.all([
    import('../server/domain/request-logs/history/table.ts'),
    import('../server/platform/clickhouse.ts'),
    import('../server/platform/sql.ts'),
  ]);
  try {
    await prepareTable();
    return 'The table in ClickHouse is up to date.';
  } catch (error) {
    return `The table in ClickHouse could not be checked: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    await Promise.all([closeClickHouse(), closeSql()]);
  }
}
