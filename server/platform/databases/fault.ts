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

  constructor(
    type: DatabaseFaultType,
    stage: Stage,
    text: string,
    more: { code?: string | null; statement?: number | null; hostKey?: string | null; cause?: unknown } = {},
  ) {
    super(text, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'DatabaseFault';
    this.type = type;
    this.stage = stage;
    this.code = more.code ?? null;
    this.text = text;
    this.statement = more.statement ?? null;
    this.hostKey = more.hostKey ?? null;
  }

  /** The same of one statement of several. */
  at(statement: number): DatabaseFault {
    const { type, stage, text, code, hostKey } = this;
    return new DatabaseFault(type, stage, text, { code, hostKey, statement });
  }
}

/** Of a jump host whose key isn't the one that is pinned. */
export const otherHostKey = (shown: string): DatabaseFault =>
  new DatabaseFault('ssh_host_key_mismatch', 'ssh', 'The SSH host showed another key than the pinned one.', { hostKey: shown });
