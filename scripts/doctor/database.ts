import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { Env } from '../../server/platform/env.ts';
import { databaseClient } from '../database-client.ts';
import { roleProblem } from '../database-role.ts';
import { versionProblem } from '../database-version.ts';
import { openDatabase } from '../open-database.ts';
import { migrationState } from '../schema.ts';
import { clickHouseFindings } from './clickhouse.ts';
import { clockFinding, newestEntry } from './clock.ts';
import { bad, type Finding, ok, warn } from './finding.ts';
import { keyFits } from './root-key.ts';

/** Connections that a start of all processes takes within its first minute. */
const CONNECTIONS = 30;

type Report = (what: string, finding: Finding) => void;

export async function database(env: Env, rootKeyId: string | undefined, report: Report): Promise<void> {
  if (!env.DATABASE_URL && !fs.existsSync(path.join(env.DATA_DIR, 'postgres/data/PG_VERSION')))
    return report('Database', warn("the embedded PostgreSQL doesn't exist yet", 'Run: npm start'));
  const toCreate = env.DATABASE_URL && (await absence(env.DATABASE_URL));
  if (toCreate) return report('Database', toCreate);
  let release = async () => {};
  try {
    const used = await openDatabase({ creates: true });
    release = used.release;
    const client = databaseClient(used.url, { connectionTimeoutMillis: 5000 });
    await client.connect();
    try {
      await connected(client, used.url, env, rootKeyId, report);
    } finally {
      await client.end();
    }
  } catch (error) {
    const next = env.DATABASE_URL
      ? 'Check DATABASE_URL and that the server accepts connections from this machine.'
      : `See ${env.DATA_DIR}/postgres/postgres.log.`;
    report('Database', bad((error as Error).message || String(error), next));
  } finally {
    await release();
  }
}

async function connected(client: pg.Client, url: string, env: Env, rootKeyId: string | undefined, report: Report): Promise<void> {
  const began = performance.now();
  const { rows } = await client.query<Server>(SERVER);
  const took_ms = performance.now() - began;
  const [server] = rows as [Server];
  const old = versionProblem(Number.parseInt(server.version, 10) * 10_000);
  report(
    'Database',
    old
      ? bad(old, "The service doesn't start until this is fixed.")
      : ok(`PostgreSQL ${server.version}, ${server.size}, responds in ${took_ms.toFixed(1)} ms${env.DATABASE_URL ? '' : ', embedded'}`),
  );
  for (const finding of serverFindings(server)) report('Database', finding);
  if (env.DATABASE_URL) report('Clock', clockFinding({ of: 'the database', at: server.now, took_ms }));
  const behind = await newestEntry(client);
  if (behind) report('Clock', behind);
  report('Migrations', await migrations(url));
  const problem = await roleProblem(url);
  if (problem) report('Role', bad(problem, "The service doesn't start until this is fixed."));
  for (const finding of await keyFits(client, rootKeyId, env)) report('Root key', finding);
  for (const finding of await clickHouseFindings(client, env)) report('ClickHouse', finding);
}

/** `extensions`: those of ours that the server lacks altogether, and those that this user would have to create. */
export type Server = {
  version: string;
  now: Date;
  size: string;
  user: string;
  standby: boolean;
  database: string;
  read_only: boolean;
  /** Where the setting comes from, in PostgreSQL's words. */
  read_only_by: string;
  encoding: string;
  may_create: boolean;
  foreign_tables: number;
  lacking: string[];
  missing: string[];
  may_extend: boolean;
  most: number;
  used: number;
};

const SERVER = `
  select current_setting('server_version') as version, clock_timestamp() as now, pg_size_pretty(pg_database_size(current_database())) as size,
    current_user as user, pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as read_only,
    current_database() as database, (select source from pg_settings where name = 'default_transaction_read_only') as read_only_by,
    current_setting('server_encoding') as encoding, has_schema_privilege('public', 'CREATE') as may_create,
    (select count(*)::int from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not pg_has_role(c.relowner, 'USAGE')
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')) as foreign_tables,
    array(select e from unnest(array['pg_trgm', 'btree_gin']) e where not exists (select from pg_available_extensions where name = e)) as lacking,
    array(select e from unnest(array['pg_trgm', 'btree_gin']) e where not exists (select from pg_extension where extname = e)) as missing,
    has_database_privilege(current_database(), 'CREATE') as may_extend,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`;

/** What of a server keeps the service from working, or will. */
export function serverFindings(server: Server): Finding[] {
  const name = pg.escapeIdentifier(server.user);
  const found: Finding[] = [];
  if (server.standby || server.read_only)
    found.push(
      bad(
        server.standby ? 'this server is a standby, which takes no changes' : 'transactions of this user are read-only',
        server.standby ? 'Set DATABASE_URL to the primary.' : writableAgain(server),
      ),
    );
  if (server.encoding !== 'UTF8')
    found.push(
      bad(
        `this database is encoded in ${server.encoding}`,
        "Create it with: CREATE DATABASE sallyport ENCODING 'UTF8' TEMPLATE template0;",
      ),
    );
  if (!server.may_create)
    found.push(bad(`${server.user} may not create tables in this database`, `Run as a superuser: GRANT ALL ON SCHEMA public TO ${name};`));
  if (server.foreign_tables > 0)
    found.push(
      bad(
        `${server.foreign_tables} tables belong to another user, so ${server.user} can't migrate them`,
        `Set DATABASE_URL to the user that owns them, or run as a superuser: GRANT <owner> TO ${name};`,
      ),
    );
  if (server.lacking.length > 0)
    found.push(bad(`the server lacks ${server.lacking.join(' and ')}`, 'Install the contrib package of PostgreSQL on its machine.'));
  else if (server.missing.length > 0 && !server.may_extend)
    found.push(
      bad(
        `${server.user} may not create the extensions ${server.missing.join(' and ')}`,
        `Run as a superuser in this database: ${server.missing.map((one) => `CREATE EXTENSION ${one};`).join(' ')}`,
      ),
    );
  if (server.most - server.used < CONNECTIONS)
    found.push(
      warn(
        `${server.used} of ${server.most} connections are in use`,
        `Raise max_connections: a start takes about ${CONNECTIONS}, if Sallyport isn't already among them.`,
      ),
    );
  return found;
}

/** What makes this server writable again, by where the setting comes from. */
function writableAgain({ user, database, read_only_by }: Server): string {
  const [role, base] = [pg.escapeIdentifier(user), pg.escapeIdentifier(database)];
  const setting = 'default_transaction_read_only';
  switch (read_only_by) {
    case 'user':
      return `Run: ALTER ROLE ${role} RESET ${setting};`;
    case 'database':
      return `Run: ALTER DATABASE ${base} RESET ${setting};`;
    case 'database user':
      return `Run: ALTER ROLE ${role} IN DATABASE ${base} RESET ${setting};`;
    case 'client':
      return `Remove ${setting} from the options of DATABASE_URL, and from PGOPTIONS.`;
    default:
      return `Run as a superuser: ALTER SYSTEM RESET ${setting}; SELECT pg_reload_conf(); If that changes nothing, remove ${setting} from postgresql.conf or the server's command line.`;
  }
}

/** What to say of a database that isn't there: the first start creates it, if this user may. Undefined when it is there, or the server doesn't tell. */
async function absence(url: string): Promise<Finding | undefined> {
  const target = new URL(url);
  const name = decodeURIComponent(target.pathname.slice(1));
  if ((await failureOf(url)) !== '3D000') return undefined;
  target.pathname = '/postgres';
  const client = new pg.Client({ connectionString: target.toString(), connectionTimeoutMillis: 5000 });
  const says = `the database ${name} doesn't exist yet`;
  const byHand = `Run as a superuser: CREATE DATABASE ${pg.escapeIdentifier(name)} ENCODING 'UTF8' TEMPLATE template0`;
  try {
    await client.connect();
    const { rows } = await client.query<{ user: string; may: boolean }>(
      'select rolname as user, rolsuper or rolcreatedb as may from pg_roles where rolname = current_user',
    );
    const [me] = rows;
    if (me?.may) return warn(says, 'The first start creates it. Run: npm start');
    return bad(`${says}, and ${me?.user} may not create it`, `${byHand} OWNER ${pg.escapeIdentifier(me?.user ?? '')};`);
  } catch {
    return bad(says, `${byHand};`);
  } finally {
    await client.end().catch(() => {});
  }
}

/** The SQLSTATE of a connection that fails with one. */
async function failureOf(url: string): Promise<string | undefined> {
  try {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    await client.connect();
    await client.end();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
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
