export type DatabaseFaultType = 'database_unreachable' | 'ssh_host_key_mismatch' | 'database_error' | 'database_timeout' | 'agent_offline';

/** How far it came. `statement` is everything after the login. */
export type Stage = 'dns' | 'tcp' | 'ssh' | 'tls' | 'auth' | 'statement';

/** Why work on a database failed. The text is fit for whoever owns the connection: without control characters, names or passwords, 500 characters at most. */
export class DatabaseFault extends Error {
  readonly type: DatabaseFaultType;
  readonly stage: Stage;
  /** SQLSTATE, or what the engine has instead; null when it came from no server. */
  readonly code: string | null;
  readonly text: string;
  /** Which statement of several, from 1. */
  readonly statement: number | null;
  /** The key that was shown instead of the pinned one. */
  readonly hostKey: string | null;
  /** Another session changed the same objects first. The statement changed nothing, nor did the transaction it was in, and may be repeated. */
  readonly conflict: boolean;

  constructor(
    type: DatabaseFaultType,
    stage: Stage,
    text: string,
    more: { code?: string | null; statement?: number | null; hostKey?: string | null; conflict?: boolean; cause?: unknown } = {},
  ) {
    super(text, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'DatabaseFault';
    this.type = type;
    this.stage = stage;
    this.code = more.code ?? null;
    this.text = text;
    this.statement = more.statement ?? null;
    this.hostKey = more.hostKey ?? null;
    this.conflict = more.conflict ?? false;
  }

  /** The same of one statement of several. */
  at(statement: number): DatabaseFault {
    const { type, stage, text, code, hostKey, conflict } = this;
    return new DatabaseFault(type, stage, text, { code, hostKey, conflict, statement });
  }

  /** The same of a conflict that was still there after the last attempt. */
  outlasting(): DatabaseFault {
    const { type, stage, text, code, statement } = this;
    const next = 'Other sessions kept changing the same objects of the database. Try again.';
    return new DatabaseFault(type, stage, `${text.slice(0, 400)}. ${next}`, { code, statement, conflict: true });
  }
}

/** Of a jump host whose key isn't the one that is pinned. */
export const otherHostKey = (shown: string): DatabaseFault =>
  new DatabaseFault('ssh_host_key_mismatch', 'ssh', 'The SSH host showed another key than the pinned one.', { hostKey: shown });
