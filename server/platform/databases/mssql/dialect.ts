import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseTarget, plainName, plainPassword, type Row } from '../engine.ts';
import { DatabaseFault } from '../fault.ts';
import type { Dialect } from '../sql-session.ts';
import type { Wire } from '../wire.ts';

export const dialectOf = (target: DatabaseTarget): Dialect => ({
  transaction: {
    // The label is how a removal finds a creation whose session was lost.
    begin: (username) => [`SET CONTEXT_INFO 0x${label(username)}`, 'BEGIN TRANSACTION'],
    commit: 'COMMIT TRANSACTION',
    // XACT_ABORT may have done it.
    rollback: 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION',
  },
  async remove(wire, username) {
    const name = plainName(username);
    await endCreation(wire, name);
    await wire.query(`${ifLogin(name)} ALTER LOGIN [${name}] DISABLE`);
    await endSessions(wire, name);
    await wire.query(`DROP USER IF EXISTS [${name}]`);
    await dropLogin(wire, name);
  },
  async exists(wire, username) {
    const name = plainName(username);
    const rows = await wire.query(
      `SELECT name FROM sys.server_principals WHERE name = N'${name}' UNION SELECT name FROM sys.database_principals WHERE name = N'${name}'`,
    );
    return rows.length > 0;
  },
  minted: "SELECT TOP (10000) name FROM sys.server_principals WHERE type = 'S' AND name LIKE N'svc[_]%[_]%[_]%' ORDER BY name",
  missing,
  renewal: () => null,
  // With the old one a login needs no right to change itself.
  ownPassword: (password) =>
    `ALTER LOGIN ${bracketed(target.username)} WITH PASSWORD = N'${plainPassword(password)}' OLD_PASSWORD = N'${target.password.replaceAll("'", "''")}'`,
});

const label = (username: string) => Buffer.from(`sallyport ${plainName(username)}`).toString('hex');
const ifLogin = (name: string) => `IF EXISTS (SELECT 1 FROM sys.server_principals WHERE name = N'${name}')`;
const bracketed = (name: string) => `[${name.replaceAll(']', ']]')}]`;

const TRIES = 50;
const PAUSE_MS = 100;

/** A creation that is still at work, of a session that was lost, would commit a login after its removal found none. */
async function endCreation(wire: Wire, name: string): Promise<void> {
  const bytes = label(name);
  const find = `SELECT session_id FROM sys.dm_exec_sessions
    WHERE SUBSTRING(context_info, 1, ${bytes.length / 2}) = 0x${bytes} AND session_id <> @@SPID AND original_login_name = ORIGINAL_LOGIN()`;
  await untilGone(async () => {
    const sessions = await wire.query(find);
    await killAll(wire, sessions);
    return sessions.length === 0;
  });
}

const endSessions = async (wire: Wire, name: string) =>
  killAll(wire, await wire.query(`SELECT session_id FROM sys.dm_exec_sessions WHERE login_name = N'${plainName(name)}'`));

/** A killed session stays for a moment, and a login with one can't be dropped. */
async function dropLogin(wire: Wire, name: string): Promise<void> {
  await untilGone(async () => {
    try {
      await wire.query(`${ifLogin(name)} DROP LOGIN [${name}]`);
      return true;
    } catch (error) {
      if (!(error instanceof DatabaseFault) || error.code !== LOGGED_IN) throw error;
      await endSessions(wire, name);
      return false;
    }
  });
}

const LOGGED_IN = '15434';
const NO_SUCH_SESSION = '6106';

async function untilGone(attempt: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < TRIES; i++) {
    if (await attempt()) return;
    await sleep(PAUSE_MS);
  }
  throw new DatabaseFault('database_timeout', 'statement', 'A session of this lease does not end.');
}

async function killAll(wire: Wire, sessions: readonly Row[]): Promise<void> {
  for (const { session_id } of sessions) {
    const id = Number(session_id);
    if (!Number.isSafeInteger(id) || id <= 0) continue;
    await wire.query(`KILL ${id}`).catch((error: unknown) => {
      if (!(error instanceof DatabaseFault) || error.code !== NO_SUCH_SESSION) throw error;
    });
  }
}

async function missing(wire: Wire): Promise<string[]> {
  const [found = {}] = await wire.query(`SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER ANY LOGIN') AS logins,
    HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER ANY CONNECTION') AS kills, HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') AS sees,
    HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'ALTER ANY USER') AS users, IS_ROLEMEMBER('db_owner') AS owner, DB_NAME() AS db`);
  const db = bracketed(String(found.db ?? ''));
  const lacks: [unknown, string][] = [
    [found.logins, 'ALTER ANY LOGIN'],
    [found.kills, 'ALTER ANY CONNECTION'],
    [found.sees, 'VIEW SERVER STATE'],
    [found.users, `ALTER ANY USER on database ${db}`],
    // Members of fixed roles are added by owners alone.
    [found.owner, `db_owner of database ${db}`],
  ];
  return lacks.filter(([have]) => Number(have) !== 1).map(([, what]) => what);
}
