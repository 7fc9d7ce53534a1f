import { DatabaseFault, type Stage } from '../fault.ts';
import { type Concealed, fitText } from '../texts.ts';
import { brokenFault } from '../wire.ts';

/** MaxTimeMSExpired, and its like. */
const SLOW = new Set([50, 262]);
const LOGIN = new Set([18, 31, 334]);

/** What an error of the driver means. Its classes are told by name: there may be several copies of them. */
export function mongoFault(error: unknown, stage: Stage, concealed: Concealed): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  const { name = '', code, errmsg, message = '' } = error as { name?: string; code?: unknown; errmsg?: unknown; message?: string };
  if (name === 'MongoServerError' || name === 'MongoWriteConcernError') {
    const number = typeof code === 'number' ? code : null;
    const more = { code: number === null ? null : String(number) };
    if (number !== null && SLOW.has(number))
      return new DatabaseFault('database_timeout', stage, 'The database ended a command that took too long.', more);
    const where = number !== null && LOGIN.has(number) && stage !== 'statement' ? 'auth' : stage;
    return new DatabaseFault('database_error', where, fitText(typeof errmsg === 'string' ? errmsg : message, concealed), more);
  }
  if (name === 'MongoServerSelectionError' || name === 'MongoNetworkTimeoutError' || name === 'MongoOperationTimeoutError')
    return new DatabaseFault('database_timeout', stage, 'The database did not answer in time.');
  return brokenFault(error, stage);
}
