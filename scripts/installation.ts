import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Env, parseEnv } from '../server/platform/env.ts';
import { Problem, root } from './command.ts';
import { accepts } from './ports.ts';

// Which installations this checkout has served, so that a command without the settings of the service doesn't make another one beside it.

/** Where the service keeps its data. Never a password: a `database` of the operator's own is its host, port and name. */
type Installation = { data_dir: string; database: string };

type Source = Readonly<Record<string, string | undefined>>;

const EMBEDDED = 'embedded';
const RECORD = 'installation.json';
/** One link per data directory that `npm start` of this checkout has used. */
const KNOWN = path.join(root, 'node_modules/.installations');

/** Written by each start: into the data directory, and, but for temporary ones (below `passing`), where commands of this checkout find it. */
export function recordInstallation(env: Env, known = KNOWN, passing = os.tmpdir()): void {
  const text = JSON.stringify({ data_dir: env.DATA_DIR, database: databaseOf(env) } satisfies Installation);
  try {
    fs.writeFileSync(path.join(env.DATA_DIR, RECORD), text, { mode: 0o644 });
    if (!path.relative(passing, env.DATA_DIR).startsWith('..')) return;
    fs.mkdirSync(known, { recursive: true });
    fs.writeFileSync(path.join(known, createHash('sha256').update(env.DATA_DIR).digest('hex').slice(0, 16)), text);
  } catch {
    // A read-only checkout: commands have the settings of its container.
  }
}

/**
 * The settings of a command that works on the installation.
 * @throws Problem when they lead elsewhere than those of the service: to a new data directory, or past its own database; EnvError
 */
export async function settingsOfInstallation(source: Source = process.env): Promise<Env> {
  const env = parseEnv(source);
  const problem = await otherSettings(env, source);
  if (problem) throw new Problem(problem);
  return env;
}

/**
 * The same for a command that needs the database alone: a DATABASE_URL that names the service's database at another port of its host, past a pooler, is
 * warned of. @throws Problem, EnvError
 */
export async function settingsOfMigration(warn: (text: string) => void, source: Source = process.env, known = KNOWN): Promise<Env> {
  const env = parseEnv(source);
  const problem = await otherSettings(env, source, known);
  if (problem === undefined) return env;
  const here = recordIn(env.DATA_DIR)?.database;
  if (here === undefined || here === EMBEDDED || !env.DATABASE_URL || withoutPort(here) !== withoutPort(databaseOf(env)))
    throw new Problem(problem);
  warn(
    `The service with the data directory ${env.DATA_DIR} uses the database ${here}, and these settings lead to ${databaseOf(env)}. Going on: only the port differs.`,
  );
  return env;
}

const withoutPort = (database: string): string => database.replace(/:\d+(?=\/|$)/, '');

/** One sentence with the next step when a command with these settings would work on something else than the service does. */
export async function otherSettings(env: Env, source: Source = process.env, known = KNOWN): Promise<string | undefined> {
  const here = recordIn(env.DATA_DIR);
  const database = databaseOf(env);
  if (here && here.database !== database && (database === EMBEDDED || (await isRunning(env))))
    return here.database === EMBEDDED
      ? `The service that runs from ${env.DATA_DIR} uses its embedded database, but DATABASE_URL is set here. Unset DATABASE_URL, or stop the service first.`
      : `The service with the data directory ${env.DATA_DIR} uses the database ${here.database}. Set DATABASE_URL as it does.`;
  if (source.DATABASE_URL || source.DATA_DIR || (await isRunning(env))) return undefined;
  const others = installations(known).filter(({ data_dir }) => data_dir !== env.DATA_DIR);
  const running = (await Promise.all(others.map(async (one) => ((await isRunning(settingsOf(one))) ? [one] : [])))).flat();
  const other = running[0] ?? (fs.existsSync(path.join(env.DATA_DIR, 'postgres/data/PG_VERSION')) ? undefined : others[0]);
  if (!other) return undefined;
  const settings = other.database === EMBEDDED ? `DATA_DIR=${other.data_dir}` : `DATABASE_URL and DATA_DIR=${other.data_dir}`;
  return (
    `Sallyport ${running.length > 0 ? 'runs' : 'was started'} from ${other.data_dir}, but these settings lead to ${env.DATA_DIR}. ` +
    `Set ${settings} as the service does, or DATA_DIR=${env.DATA_DIR} if you mean that one.`
  );
}

const settingsOf = ({ data_dir }: Installation): Env => parseEnv({ DATA_DIR: data_dir });

/** The supervisor of a data directory holds this socket. */
const isRunning = ({ WEB_SOCKET }: Env): Promise<boolean> => accepts({ path: `${WEB_SOCKET}.run` });

function databaseOf({ DATABASE_URL }: Env): string {
  if (!DATABASE_URL) return EMBEDDED;
  const { hostname, port, pathname, searchParams } = new URL(DATABASE_URL);
  return `${hostname || searchParams.get('host') || 'localhost'}:${port || 5432}${pathname}`;
}

function installations(known: string): Installation[] {
  if (!fs.existsSync(known)) return [];
  return fs.readdirSync(known).flatMap((name) => {
    const link = path.join(known, name);
    const directory = parsed(link)?.data_dir;
    const found = directory === undefined ? undefined : recordIn(directory);
    if (found) return found;
    // One that only can't be read may be of another user.
    if (directory === undefined || isGone(directory)) removed(link);
    return [];
  });
}

function isGone(directory: string): boolean {
  try {
    fs.statSync(directory);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function removed(link: string): void {
  try {
    fs.rmSync(link, { force: true });
  } catch {
    // A read-only checkout.
  }
}

/** Undefined for a directory that is gone, too. */
const recordIn = (directory: string): Installation | undefined => parsed(path.join(directory, RECORD));

function parsed(file: string): Installation | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Installation;
  } catch {
    return undefined;
  }
}
