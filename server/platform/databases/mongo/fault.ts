import { DatabaseFault, type Stage } from '../fault.ts';
import { type Concealed, fitText } from '../texts.ts';
import { brokenFault } from '../wire.ts';

/** MaxTimeMSExpired, and its like. */
const SLOW = new Set([50, 262]);
const LOGIN = new Set([18, 31, 334]);
/** LockTimeout, LockBusy, WriteConflict, NoSuchTransaction: commands about users lock their collection, and run in a transaction of the server's own. */
const CONFLICTS = new Set([24, 46, 112, 251]);

/** What an error of the driver means. Its classes are told by name: there may be several copies of them. */
export function mongoFault(error: unknown, stage: Stage, concealed: Concealed): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  const {
    name = '',
    code,
    errmsg,
    message = '',
    errorLabels,
  } = error as Partial<Record<'code' | 'errmsg' | 'errorLabels', unknown>> & {
    name?: string;
    message?: string;
  };
  if (name === 'MongoServerError' || name === 'MongoWriteConcernError') {
    const number = typeof code === 'number' ? code : null;
    const transient = Array.isArray(errorLabels) && errorLabels.includes('TransientTransactionError');
    const more = { code: number === null ? null : String(number), conflict: transient || (number !== null && CONFLICTS.has(number)) };
    if (number !== null && SLOW.has(number))
      return new DatabaseFault('database_timeout', stage, 'The database ended a command that took too long.', more);
    const where = number !== null && LOGIN.has(number) && stage !== 'statement' ? 'auth' : stage;
    return new DatabaseFault('database_error', where, fitText(typeof errmsg === 'string' ? errmsg : message, concealed), more);
  }
  if (name === 'MongoServerSelectionError' || name === 'MongoNetworkTimeoutError' || name === 'MongoOperationTimeoutError')
    return new DatabaseFault('database_timeout', stage, 'The database did not answer in time.');
  return brokenFault(error, stage);
}
