import dns from 'node:dns/promises';
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { loadRootKeys, parseRootKey } from '../server/crypto/root-key.ts';
import { clickHouseVersion, historyState } from '../server/domain/request-logs/history/state.ts';
import { closeClickHouse } from '../server/platform/clickhouse.ts';
import { type Env, EnvError, parseEnv, withoutEffect } from '../server/platform/env.ts';
import { readDatabase } from '../server/platform/geoip.ts';
import { squareOf } from '../server/platform/pictures/decoder.ts';
import { roleProblem } from './database-role.ts';
import { versionProblem } from './database-version.ts';
import { openDatabase } from './open-database.ts';
import { accepts, hostBehind, publicPorts, whyNotFree } from './ports.ts';
import { migrationState } from './schema.ts';

// npm run doctor: what this installation stands on, one line a thing, with the next step where something is wrong. Changes nothing.

type Finding = { state: 'OK' | 'WARN' | 'FAIL'; says: string; next?: string };
const ok = (says: string): Finding => ({ state: 'OK', says });
const warn = (says: string, next: string): Finding => ({ state: 'WARN', says, next });
const bad = (says: string, next: string): Finding => ({ state: 'FAIL', says, next });

let worst = 0;
report('Node', nodeVersion());
const env = readEnv();
const rootKeyId = rootKey(env);
report('Disk', disk(env));
await database(env, rootKeyId);
for (const finding of await ports(env)) report('Port', finding);
for (const finding of await names(env)) report('DNS', finding);
report('Mail', await mail(env));
report('Pictures', await pictures());
if (env.GEOIP_DB_PATH) report('Countries', await countries(env.GEOIP_DB_PATH));
if (env.REDIS_URL) report('Redis', await reachable(env.REDIS_URL, 6379, 'REDIS_URL'));
process.exit(worst === 2 ? 1 : 0);

function report(what: string, { state, says, next }: Finding): void {
  worst = Math.max(worst, ['OK', 'WARN', 'FAIL'].indexOf(state));
  console.log(`${state.padEnd(5)}${what.padEnd(13)}${says}${next ? `\n${' '.repeat(18)}-> ${next}` : ''}`);
}

function nodeVersion(): Finding {
  const { node } = process.versions;
  return Number(node.split('.')[0]) >= 24
    ? ok(`${node} (${process.platform}-${process.arch})`)
    : bad(`${node} is too old`, 'Run: npm run doctor');
}

function readEnv(): Env {
  try {
    const parsed = parseEnv(process.env);
    report('Settings', ok(`${parsed.NODE_ENV}, roles ${parsed.SALLYPORT_ROLES.join(' ')}`));
    if (parsed.NODE_ENV !== 'production' && parsed.PROXY_BASE_HOST !== 'localhost')
      report(
        'Settings',
        warn(`${parsed.PROXY_BASE_HOST} runs in ${parsed.NODE_ENV} mode`, 'Set NODE_ENV=production if others can reach it.'),
      );
    if (parsed.SVC_GATEWAYS > 1 && !parsed.REDIS_URL)
      report(
        'Settings',
        warn(`${parsed.SVC_GATEWAYS} gateways share rate limits through PostgreSQL`, 'Set REDIS_URL for better performance.'),
      );
    for (const name of withoutEffect(process.env))
      report('Settings', warn(`${name} has no effect in this release`, 'Unset it. It may take effect in a later release.'));
    return parsed;
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    for (const problem of error.problems) report('Settings', bad(problem, 'Fix or unset this variable.'));
    process.exit(1);
  }
}

/** One pixel is too small for a photo, which only a decoder that runs can say. */
async function pictures(): Promise<Finding> {
  const dot = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWNgYGAAAAAEAAGjChXjAAAAAElFTkSuQmCC',
    'base64',
  );
  const answer = await squareOf(dot, 'doctor').catch(() => undefined);
  return answer && 'fault' in answer && answer.fault === 'too_small'
    ? ok('photos and logos are decoded in a separate process')
    : warn(`photos and logos can't be uploaded: sharp doesn't run on ${process.platform}-${process.arch}`, 'Everything else works.');
}

/** The id names the key without revealing it: the first 8 hex digits of its SHA-256. */
function rootKey(env: Env): string | undefined {
  try {
    if (env.MASTER_KEY_B64) {
      const { id } = parseRootKey(env.MASTER_KEY_B64, 'MASTER_KEY_B64');
      report('Root key', ok(`${id}, from MASTER_KEY_B64`));
      return id;
    }
    if (!fs.existsSync(env.MASTER_KEY_FILE)) {
      report(
        'Root key',
        warn(
          `${env.MASTER_KEY_FILE} does not exist`,
          'The first start creates it. If this is not a new installation, restore it from the backup before starting.',
        ),
      );
      return undefined;
    }
    const { id } = loadRootKeys({ file: env.MASTER_KEY_FILE }).current;
    report('Root key', ok(`${id}, from ${env.MASTER_KEY_FILE}, readable by its owner only`));
    return id;
  } catch (error) {
    report('Root key', bad((error as Error).message, 'Restore this key from the backup. Nothing can be decrypted without it.'));
    return undefined;
  }
}

function disk(env: Env): Finding {
  const there = fs.existsSync(env.DATA_DIR) ? env.DATA_DIR : path.dirname(env.DATA_DIR);
  const { bavail, bsize } = fs.statfsSync(there);
  const free = (bavail * bsize) / 2 ** 30;
  const says = `${free.toFixed(1)} GB free for ${env.DATA_DIR}`;
  if (free < 0.5) return bad(says, 'PostgreSQL stops when the disk is full. Free space now.');
  return free < 5 ? warn(says, 'Request logs grow. Free space or shorten their retention.') : ok(says);
}

async function database(env: Env, rootKeyId: string | undefined): Promise<void> {
  if (!env.DATABASE_URL && !fs.existsSync(path.join(env.DATA_DIR, 'postgres/data/PG_VERSION'))) {
    report('Database', warn("the embedded PostgreSQL doesn't exist yet", 'Run: npm start'));
    return;
  }
  let release = async () => {};
  try {
    const used = await openDatabase();
    release = used.release;
    const client = new pg.Client({ connectionString: used.url, connectionTimeoutMillis: 5000 });
    await client.connect();
    try {
      const began = performance.now();
      const { rows } = await client.query<{ version: string; number: number; now: Date; size: string }>(
        "select current_setting('server_version') as version, current_setting('server_version_num')::int as number, clock_timestamp() as now, pg_size_pretty(pg_database_size(current_database())) as size",
      );
      const took = performance.now() - began;
      report(
        'Database',
        ok(`PostgreSQL ${rows[0]?.version}, ${rows[0]?.size}, responds in ${took.toFixed(1)} ms${env.DATABASE_URL ? '' : ', embedded'}`),
      );
      const old = versionProblem(rows[0]?.number ?? 0);
      if (old) report('Database', bad(old, "The service doesn't start until this is fixed."));
      report('Clock', clock(rows[0]?.now, took));
      report('Migrations', await migrations(used.url));
      const problem = await roleProblem(used.url);
      if (problem) report('Role', bad(problem, "The service doesn't start until this is fixed."));
      await fits(client, rootKeyId, env);
      for (const finding of await calls(client, env)) report('ClickHouse', finding);
    } finally {
      await client.end();
    }
  } catch (error) {
    report(
      'Database',
      bad(
        (error as Error).message || String(error),
        env.DATABASE_URL
          ? 'Check DATABASE_URL and that the server accepts connections from this machine.'
          : `See ${env.DATA_DIR}/postgres/postgres.log.`,
      ),
    );
  } finally {
    await release();
  }
}

/** Leases, tokens and one-time codes compare our clock with the database's. */
function clock(theirs: Date | undefined, tookMs: number): Finding {
  const apart = Math.max(0, Math.abs(Date.now() - (theirs?.getTime() ?? 0)) - tookMs) / 1000;
  const says = `${apart.toFixed(1)} s from the database's`;
  if (apart > 60) return bad(says, 'Sync both machines with NTP. Tokens and leases are refused when clocks disagree.');
  return apart > 2 ? warn(says, 'Sync both machines with NTP.') : ok(says);
}

async function migrations(url: string): Promise<Finding> {
  const { missing, unknown } = await migrationState(url);
  if (unknown.length > 0)
    return warn(
      `the database has ${unknown.join(', ')}, which this version doesn't know`,
      'A newer version has used this database. Go back to that version, or restore the backup from before the upgrade.',
    );
  return missing.length > 0
    ? warn(`${missing.length} not applied`, 'The next start applies them. Make a backup first.')
    : ok('all applied');
}

/** Every tenant key is wrapped by the root key: a foreign one, or none, opens nothing. */
async function fits(client: pg.Client, id: string | undefined, env: Env): Promise<void> {
  const { rows: made } = await client.query("select to_regclass('public.tenant_master_keys') as there");
  if (made[0]?.there === null) return;
  const { rows } = await client.query<{ root_key_id: string }>(
    'select distinct root_key_id from tenant_master_keys where root_key_id is not null',
  );
  const ids = rows.map((row) => row.root_key_id);
  const previous = env.MASTER_KEY_PREVIOUS_B64 ? parseRootKey(env.MASTER_KEY_PREVIOUS_B64, 'MASTER_KEY_PREVIOUS_B64').id : undefined;
  const foreign = ids.filter((other) => other !== id && other !== previous);
  if (foreign.length > 0)
    report(
      'Root key',
      bad(
        `the database was encrypted with ${foreign.join(', ')}, but ${id ? `this is ${id}` : 'there is no key here'}`,
        'Restore the key that belongs to this database. Nothing in it can be decrypted without it.',
      ),
    );
  else if (previous && ids.includes(previous))
    report('Root key', warn(`rotation from ${previous} is not complete`, 'Keep MASTER_KEY_PREVIOUS_B64 until the rotation is complete.'));
  else if (previous) report('Root key', ok(`nothing is encrypted with ${previous} anymore: you can remove MASTER_KEY_PREVIOUS_B64`));
}

/** Older calls are in ClickHouse, and what it can't take waits in the database. */
async function calls(client: pg.Client, env: Env): Promise<Finding[]> {
  const { rows: made } = await client.query("select to_regclass('public.request_log_history') as there");
  if (made[0]?.there === null) return [];
  const state = await historyState(client);
  const older = state?.read_there_until
    ? `calls until ${state.read_there_until.toISOString()} are read from it`
    : 'no calls are read from it yet';
  if (!env.CLICKHOUSE_URL)
    return state?.read_there_until ? [bad(`${older}, but CLICKHOUSE_URL is not set`, 'Set it. Until then, lists lack those calls.')] : [];
  try {
    const server = ok(`${await clickHouseVersion()}, ${older}`);
    if (!state?.failing_since) return [server, ...behind(state?.waiting_s ?? 0)];
    return [
      server,
      warn(`copying has failed since ${state.failing_since.toISOString()}: ${state.failure}`, 'Calls wait in PostgreSQL until it works.'),
    ];
  } catch (error) {
    return [
      bad(
        `${(error as Error).message}; ${older}`,
        'Check the CLICKHOUSE_ settings and the server. New calls wait in PostgreSQL; lists lack the older ones meanwhile.',
      ),
    ];
  } finally {
    await closeClickHouse();
  }
}

const behind = (seconds: number): Finding[] =>
  seconds > 120
    ? [warn(`the copy is ${Math.round(seconds)} s behind`, 'A first copy takes a while. Otherwise, see that a worker runs.')]
    : [];

async function ports(env: Env): Promise<Finding[]> {
  if (await accepts({ path: `${env.WEB_SOCKET}.run` })) {
    const host = hostBehind(env.BIND_ADDRESS);
    const listed = publicPorts(env).map(({ port }) => port);
    const silent: number[] = [];
    for (const port of listed) if (!(await accepts({ port, host }))) silent.push(port);
    return silent.length === 0
      ? [ok(`${listed.join(', ')}: Sallyport is running here`)]
      : [
          warn(
            `Sallyport runs from ${env.DATA_DIR}, but nothing responds on ${silent.join(', ')}`,
            'It may still be starting. Otherwise, run doctor with the settings it was started with (PLANE_PORTS, PORT, BIND_ADDRESS).',
          ),
        ];
  }
  return Promise.all(
    publicPorts(env).map(async (port) => {
      const problem = await whyNotFree(port, env.BIND_ADDRESS);
      return problem ? bad(problem, 'Then start again.') : ok(`${port.port} is free on ${env.BIND_ADDRESS}`);
    }),
  );
}

async function names(env: Env): Promise<Finding[]> {
  const hosts = [env.PUBLIC_API_URL, env.PUBLIC_SANDBOX_API_URL, env.PUBLIC_ADMIN_URL, env.PUBLIC_HOOKS_URL].map(
    (url) => new URL(url).hostname,
  );
  const wildcard = `doctor-test.${env.PROXY_BASE_HOST}`;
  return Promise.all(
    [...new Set([...hosts, wildcard])].map(async (host) => {
      const found = await dns.lookup(host).catch(() => undefined);
      if (found) return ok(`${host} is ${found.address}`);
      if (host === wildcard && env.PROXY_PATH_MODE)
        return warn(
          `${host} doesn't resolve on this machine`,
          `Browsers and curl resolve names under localhost on their own. Other clients can use ${env.PUBLIC_API_URL}/p/{workspace}/...`,
        );
      return bad(
        `${host} doesn't resolve`,
        host === wildcard ? `Add a wildcard DNS record *.${env.PROXY_BASE_HOST}.` : 'Add a DNS record for it, or fix the PUBLIC_ setting.',
      );
    }),
  );
}

async function mail(env: Env): Promise<Finding> {
  if (!env.SMTP_URL) return warn('SMTP_URL is not set: emails are written to the log', 'Set SMTP_URL before other people sign up.');
  return reachable(env.SMTP_URL, 25, 'SMTP_URL');
}

/** Nothing stands or falls with it: what is wrong with the file costs the countries and nothing else. */
async function countries(file: string): Promise<Finding> {
  try {
    const { type, built } = await readDatabase(file);
    const says = `${type} of ${built.toISOString().slice(0, 10)}, from ${file}`;
    if (!/country|city|enterprise|insights/i.test(type))
      return warn(`${says}, may not contain countries`, 'Use a country or city database.');
    const days = (Date.now() - built.getTime()) / 86_400_000;
    return days > 60 ? warn(`${says}, is ${Math.floor(days)} days old`, 'Replace the file. Address locations change over time.') : ok(says);
  } catch (error) {
    return warn(`${file}: ${(error as Error).message}`, 'Fix GEOIP_DB_PATH or the file, or unset it. Until then, countries are not shown.');
  }
}

async function reachable(address: string, usual: number, setting: string): Promise<Finding> {
  const url = new URL(address);
  const port = Number(url.port) || (url.protocol === 'smtps:' ? 465 : usual);
  const open = await accepts({ host: url.hostname, port });
  return open
    ? ok(`${url.hostname}:${port} accepts connections`)
    : bad(`${url.hostname}:${port} doesn't accept connections`, `Check ${setting} and the firewall.`);
}
