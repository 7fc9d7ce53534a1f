import { setTimeout as sleep } from 'node:timers/promises';
import { plainName, plainPassword } from '../engine.ts';
import { DatabaseFault } from '../fault.ts';
import type { Dialect } from '../sql-session.ts';
import { sqlTime } from '../timestamps.ts';
import type { Wire } from '../wire.ts';
import { assertGranted, missingPrivileges } from './privileges.ts';
import { postgresRevocation } from './revocation.ts';

export const dialect: Dialect = {
  transaction: {
    // The label is how a removal finds a creation whose session was lost.
    begin: (username) => [`SET application_name = '${label(username)}'`, 'BEGIN'],
    commit: 'COMMIT',
    rollback: 'ROLLBACK',
  },
  async remove(wire, username) {
    await endCreation(wire, username);
    for (const statement of postgresRevocation(username)) await wire.query(statement);
  },
  exists: async (wire, username) =>
    (await wire.query(`SELECT rolname FROM pg_catalog.pg_roles WHERE rolname = '${plainName(username)}'`)).length > 0,
  minted: "SELECT rolname FROM pg_catalog.pg_roles WHERE rolname LIKE 'svc\\_%\\_%\\_%' ORDER BY 1 LIMIT 10000",
  missing: missingPrivileges,
  assertDone: assertGranted,
  renewal: (username, expiresAt) => `ALTER ROLE "${plainName(username)}" VALID UNTIL '${sqlTime(expiresAt)}'`,
  ownPassword: (password) => `ALTER ROLE CURRENT_USER PASSWORD '${plainPassword(password)}'`,
};

const label = (username: string) => `sallyport ${plainName(username)}`;

const TRIES = 50;
const PAUSE_MS = 100;

/** A creation that is still at work would commit a user after its removal found none. The admin may end sessions of its own. */
async function endCreation(wire: Wire, username: string): Promise<void> {
  const find = `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
    WHERE usename = CURRENT_USER AND application_name = '${label(username)}' AND pid <> pg_catalog.pg_backend_pid()`;
  for (let i = 0; i < TRIES; i++) {
    if ((await wire.query(find)).length === 0) return;
    await sleep(PAUSE_MS);
  }
  throw new DatabaseFault('database_timeout', 'statement', 'An earlier session of this lease does not end.');
}
