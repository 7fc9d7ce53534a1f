import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseTarget, plainName, plainPassword, type Row } from '../engine.ts';
import { DatabaseFault } from '../fault.ts';
import type { Dialect } from '../sql-session.ts';
import type { Wire } from '../wire.ts';
import { missingPrivileges } from './privileges.ts';

/** Quotes mean what our reader of statements takes them for, whatever the server's default is. */
export const SQL_MODE = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'";

// Nothing is assumed of transactions: every statement about users is final by itself.

export function dialectOf({ database, options }: DatabaseTarget): Dialect {
  const ownHost = options.user_host ?? '%';
  return {
    transaction: null,
    async remove(wire, username) {
      const name = plainName(username);
      // Statements of a role may have run in this session.
      await wire.query(SQL_MODE);
      await endCreation(wire, name);
      const hosts = [...new Set([...((await hostsOf(wire, name)) ?? []), ownHost])];
      for (const host of hosts) await wire.query(`ALTER USER IF EXISTS ${account(name, host)} ACCOUNT LOCK`).catch(unlessOld);
      await endSessions(wire, name);
      for (const host of hosts) await wire.query(`DROP USER IF EXISTS ${account(name, host)}`);
      // Where accounts can't be locked a session may have begun meanwhile; it would live on without its user.
      await endSessions(wire, name);
    },
    async exists(wire, username) {
      const hosts = await hostsOf(wire, username);
      return hosts === undefined || hosts.length > 0;
    },
    minted: "SELECT DISTINCT User FROM mysql.user WHERE User LIKE 'svc\\_%\\_%\\_%' ORDER BY User LIMIT 10000",
    missing: (wire, use) => missingPrivileges(wire, database, use),
    renewal: () => null,
    ownPassword: (password, version) =>
      /MariaDB/i.test(version)
        ? `SET PASSWORD = PASSWORD('${plainPassword(password)}')`
        : `ALTER USER CURRENT_USER() IDENTIFIED BY '${plainPassword(password)}'`,
  };
}

/** Backslashes escape, because the session's sql_mode is ours. */
const account = (name: string, host: string): string => `'${plainName(name)}'@'${host.replace(/[\\']/g, '\\$&')}'`;

/** Hosts of the accounts with that name; undefined when the admin may not look. */
async function hostsOf(wire: Wire, name: string): Promise<string[] | undefined> {
  try {
    const rows = await wire.query(`SELECT Host FROM mysql.user WHERE User = '${plainName(name)}' LIMIT 100`);
    return rows.map((row) => String(Object.values(row)[0]));
  } catch (error) {
    if (error instanceof DatabaseFault && DENIED.has(error.code ?? '')) return undefined;
    throw error;
  }
}

const DENIED = new Set(['1142', '1143', '1227', '1044', '1045']);

/** ACCOUNT LOCK came with MySQL 5.7.6 and MariaDB 10.4.2. */
function unlessOld(error: unknown): void {
  if (!(error instanceof DatabaseFault) || error.code !== '1064') throw error;
}

const TRIES = 50;
const PAUSE_MS = 100;

/** A creation that is still at work, of a session that was lost, would make the user after its removal found none. */
async function endCreation(wire: Wire, name: string): Promise<void> {
  const find = `SELECT ID FROM information_schema.PROCESSLIST
    WHERE USER = SUBSTRING_INDEX(USER(), '@', 1) AND ID <> CONNECTION_ID() AND INFO LIKE '%${name.replaceAll('_', '\\_')}%'`;
  for (let i = 0; i < TRIES; i++) {
    const threads = await wire.query(find);
    if (threads.length === 0) return;
    await killAll(wire, threads);
    await sleep(PAUSE_MS);
  }
  throw new DatabaseFault('database_timeout', 'statement', 'An earlier session of this lease does not end.');
}

async function endSessions(wire: Wire, name: string): Promise<void> {
  await killAll(wire, await wire.query(`SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '${plainName(name)}' LIMIT 1000`));
}

async function killAll(wire: Wire, threads: readonly Row[]): Promise<void> {
  for (const row of threads) {
    const id = Number(Object.values(row)[0]);
    if (!Number.isSafeInteger(id) || id <= 0) continue;
    await wire.query(`KILL ${id}`).catch((error: unknown) => {
      // It has ended by itself.
      if (!(error instanceof DatabaseFault) || error.code !== '1094') throw error;
    });
  }
}
