import { DatabaseFault, type Stage } from '../fault.ts';
import { type Concealed, fitText } from '../texts.ts';
import { tlsFault } from '../tls.ts';
import { brokenFault } from '../wire.ts';

/** Lock request timed out, and canceled. */
const SLOW = new Set([1222, 3617]);
/** Chosen as the victim of a deadlock, lock request timed out, and conflicts of snapshots: of rows, and of the metadata. */
const CONFLICTS = new Set([1205, 1222, 3960, 3961]);

/** What an error of the driver means. The code is the number of SQL Server's message. */
export function mssqlFault(error: unknown, stage: Stage, concealed: Concealed): DatabaseFault {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof DatabaseFault) return one;
    const tls = tlsFault(one);
    if (tls) return tls;
  }
  const { number, message = '', code } = error as { number?: unknown; message?: string; code?: unknown };
  if (typeof number === 'number') {
    const more = { code: String(number), conflict: CONFLICTS.has(number) };
    if (SLOW.has(number)) return new DatabaseFault('database_timeout', stage, 'The database ended a statement that took too long.', more);
    return new DatabaseFault('database_error', stage, fitText(message, concealed), more);
  }
  if (code === 'ELOGIN') return new DatabaseFault('database_error', 'auth', fitText(message, concealed), { code: '18456' });
  if (code === 'EENCRYPT') return new DatabaseFault('database_unreachable', 'tls', 'The database does not offer TLS, or asks for it.');
  return brokenFault(error, stage);
}
