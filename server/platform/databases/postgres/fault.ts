import { DatabaseFault, type Stage } from '../fault.ts';
import { type Concealed, fitText } from '../texts.ts';
import { tlsFault } from '../tls.ts';
import { brokenFault } from '../wire.ts';

/** SQLSTATEs of a statement that took too long (query_canceled, by statement_timeout) or waited too long. */
const SLOW = new Set(['57014', '55P03']);

/** Serialization failure, deadlock. */
const CONFLICTS = new Set(['40001', '40P01']);
/** Of the catalogs, where two changes of one row are an internal error, as of GRANT, or a role that an entry names was just dropped. PostgreSQL doesn't translate these. */
const CATALOG_CONFLICT = /^(?:tuple concurrently (?:updated|deleted)|cache lookup failed for )/;

/** What an error of the driver means. */
export function postgresFault(error: unknown, stage: Stage, concealed: Concealed): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  const tls = tlsFault(error);
  if (tls) return tls;
  const { code, message = '', severity, detail } = error as { code?: unknown; message?: string; severity?: unknown; detail?: unknown };
  // Only what came as an ErrorResponse has a severity.
  if (typeof severity === 'string' && typeof code === 'string') {
    const state = /^[0-9A-Z]{5}$/.test(code) ? code : null;
    if (state !== null && SLOW.has(state))
      return new DatabaseFault('database_timeout', stage, 'The database canceled a statement that took too long.', { code: state });
    return new DatabaseFault(
      'database_error',
      stage === 'tls' ? 'auth' : stage,
      fitText(typeof detail === 'string' ? `${message} (${detail})` : message, concealed),
      { code: state, conflict: CONFLICTS.has(state ?? '') || (state === 'XX000' && CATALOG_CONFLICT.test(message)) },
    );
  }
  if (message === 'The server does not support SSL connections')
    return new DatabaseFault('database_unreachable', 'tls', 'The database does not offer TLS.');
  if (stage === 'tls') return new DatabaseFault('database_unreachable', 'tls', 'The TLS handshake with the database failed.');
  if (message.startsWith('SASL:'))
    return new DatabaseFault('database_error', 'auth', 'The database and this service do not agree on a login.');
  return brokenFault(error, stage);
}
