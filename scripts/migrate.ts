// npm run migrate   brings the database of DATABASE_URL to this version and ends, for installations whose processes start alone. `npm start` does it by itself.
import { EnvError, parseEnv } from '../server/platform/env.ts';
import { fail, Problem } from './command.ts';
import { migrate, migrationState } from './schema.ts';

try {
  const { DATABASE_URL } = settings();
  if (DATABASE_URL === undefined) throw new Problem('Set DATABASE_URL. The embedded database is migrated by npm start.');
  const { missing, unknown } = await migrationState(DATABASE_URL);
  await migrate(DATABASE_URL);
  console.log(
    missing.length === 0
      ? 'The database is up to date.'
      : `Applied ${missing.length} migrations, the last of them ${missing.sort().at(-1)}.`,
  );
  if (unknown.length > 0) console.error(`The database was used by a newer version of Sallyport: it has ${unknown.join(', ')}.`);
} catch (error) {
  fail(error);
}

function settings() {
  try {
    return parseEnv(process.env);
  } catch (error) {
    throw error instanceof EnvError ? new Problem(error.message) : error;
  }
}
