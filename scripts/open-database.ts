import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { usableFolder } from '../server/platform/private-folder.ts';
import { alone, Problem } from './command.ts';
import { type Database, startDatabase } from './database.ts';
import { settingsOfInstallation } from './installation.ts';
import { isNewDatabase } from './schema.ts';

/**
 * For commands that run beside or without the service (seed, admin, doctor): the database of this installation, started when it is the
 * embedded one and not running, and stopped by the last command that uses it. Sets DATABASE_URL, so call it before anything reads `env`.
 * Without `creates`, there must be an installation: a mistyped setting would make an empty one.
 * @throws Problem when these are not the settings of the service, or of any installation
 */
export async function openDatabase({ creates }: { creates: boolean }): Promise<{ url: string; release: () => Promise<void> }> {
  const { DATABASE_URL, DATA_DIR } = await settingsOfInstallation();
  if (DATABASE_URL) {
    if (!creates && (await isNewDatabase(DATABASE_URL)))
      throw new Problem(
        'The database of DATABASE_URL has no installation of Sallyport. Correct DATABASE_URL, or start Sallyport first: npm start',
      );
    return { url: DATABASE_URL, release: async () => {} };
  }
  const directory = path.join(DATA_DIR, 'postgres');
  if (!creates && isFolderOrAbsent(DATA_DIR) && !fs.existsSync(path.join(directory, 'data/PG_VERSION')))
    throw new Problem(
      `There is no installation of Sallyport in ${DATA_DIR}. Set DATA_DIR or DATABASE_URL as the service does, or start it first: npm start`,
    );
  usableFolder('DATA_DIR', DATA_DIR, 0o711);
  const embedded = await startDatabase(directory, [`${FOR_COMMANDS}=on`]);
  const turn = path.join(directory, '.commands');
  const held = await alone(turn, async () => {
    await embedded.revive(); // the last command may have stopped it since
    await embedded.create('sallyport');
    return connected(embedded.url('sallyport'));
  });
  const url = embedded.url('sallyport');
  process.env.DATABASE_URL = url;
  process.env.DATA_DIR = DATA_DIR;
  return {
    url,
    release: () =>
      alone(turn, async () => {
        if (await isLast(held)) await stopAfter(held, embedded);
        else await held.end();
      }),
  };
}

/** Anything else is for `usableFolder` to refuse. */
const isFolderOrAbsent = (place: string) => fs.statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? true;

/** Tells a server that a command started from one that the service did, which stops its own. */
const FOR_COMMANDS = 'sallyport.for_commands';

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // a server that is stopped under us shows at the next question
  await client.connect();
  return client;
}

/** Connections of our own that were closed just now take a moment to go. */
async function isLast(held: pg.Client): Promise<boolean> {
  for (let tried = 0; tried < 10; tried++) {
    const { rows } = await held.query<{
      ours: boolean;
      others: number;
    }>(`select coalesce(current_setting('${FOR_COMMANDS}', true), '') = 'on' as ours,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()) as others`);
    if (!rows[0]?.ours) return false;
    if (rows[0].others === 0) return true;
    await sleep(30);
  }
  return false;
}

async function stopAfter(held: pg.Client, server: Database): Promise<void> {
  await held.end();
  await server.stop();
}
