import path from 'node:path';
import { parseEnv } from '../server/platform/env.ts';
import { type Database, startDatabase } from './database.ts';

/**
 * For commands that run beside or without the service (seed, admin, doctor): the database of this installation, started when it is the
 * embedded one and not running, which `release` then undoes. Sets DATABASE_URL, so call it before anything reads `env`.
 */
export async function openDatabase(): Promise<{ url: string; release: () => Promise<void> }> {
  const { DATABASE_URL, DATA_DIR } = parseEnv(process.env);
  if (DATABASE_URL) return { url: DATABASE_URL, release: async () => {} };
  const embedded: Database = await startDatabase(path.join(DATA_DIR, 'postgres'));
  await embedded.create('sallyport');
  const url = embedded.url('sallyport');
  process.env.DATABASE_URL = url;
  process.env.DATA_DIR = DATA_DIR;
  return { url, release: embedded.startedHere ? embedded.stop : async () => {} };
}
