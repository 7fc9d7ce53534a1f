import { DatabaseFault, type Stage } from '../fault.ts';
import { type Concealed, fitText } from '../texts.ts';
import { tlsFault } from '../tls.ts';
import { brokenFault } from '../wire.ts';

/** Statement or lock took too long, or was killed for it: MySQL and MariaDB. */
const SLOW = new Set([1205, 1317, 1969, 3024]);
/** Lock wait timeout, deadlock, and MariaDB's row that changed since it was read. */
const CONFLICTS = new Set([1205, 1213, 1020]);

/** What an error of the driver means. The code is the server's number: most of its errors share one SQLSTATE. */
export function mysqlFault(error: unknown, stage: Stage, concealed: Concealed): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  const tls = tlsFault(error);
  if (tls) return tls;
  const { errno, sqlState, sqlMessage, code } = error as { errno?: unknown; sqlState?: unknown; sqlMessage?: unknown; code?: unknown };
  if (typeof errno === 'number' && typeof sqlMessage === 'string' && (typeof sqlState === 'string' || stage !== 'statement')) {
    const more = { code: String(errno), conflict: CONFLICTS.has(errno) };
    if (SLOW.has(errno)) return new DatabaseFault('database_timeout', stage, 'The database ended a statement that took too long.', more);
    return new DatabaseFault('database_error', stage === 'tls' ? 'auth' : stage, fitText(sqlMessage, concealed), more);
  }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return new DatabaseFault('database_unreachable', 'tls', 'The database does not offer TLS.');
  if (code === 'MYSQL_CLEAR_PASSWORD_NOT_ENABLED')
    return new DatabaseFault('database_error', 'auth', 'The database asked for the password in clear, which is not sent.');
  if (stage === 'tls' && code !== 'PROTOCOL_CONNECTION_LOST')
    return new DatabaseFault('database_unreachable', 'tls', 'The TLS handshake with the database failed.');
  return brokenFault(error, stage);
}
