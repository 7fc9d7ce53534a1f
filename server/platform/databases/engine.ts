import type { TunnelAgent } from '../agent-tunnel.ts';
import type { SshTarget } from './ssh/ssh-target.ts';

// What the service does on databases of customers, one shape for all engines (interface rule 44). Nothing here is kept between two uses: a session is
// opened for one piece of work and closed.

export type Engine = 'postgres' | 'mysql' | 'mongo' | 'mssql';

export const DEFAULT_PORTS: Readonly<Record<Engine, number>> = { postgres: 5432, mysql: 3306, mongo: 27017, mssql: 1433 };

/** What the users may do that an admin makes. */
export type AdminUse = 'readonly' | 'readwrite';

export type SslMode = 'disable' | 'require' | 'verify-ca' | 'verify-full';

/** The stored options of a connection (interface rule 44 §3.2) that matter here; what is left out has its default. */
export type ConnectOptions = {
  sslmode?: SslMode | undefined;
  ca_cert_pem?: string | undefined;
  connect_timeout_ms?: number | undefined;
  statement_timeout_ms?: number | undefined;
  auth_source?: string | undefined;
  replica_set?: string | undefined;
  srv?: boolean | undefined;
  tls?: boolean | undefined;
  user_host?: string | undefined;
};

export const CONNECT_TIMEOUT_MS = 10_000;
export const STATEMENT_TIMEOUT_MS = 15_000;

export type DatabaseTarget = {
  engine: Engine;
  /** A name or an address; for mongo also a comma list of host:port, or an SRV name. */
  host: string;
  /** Null: the engine's default. */
  port: number | null;
  database: string | null;
  username: string;
  password: string;
  options: ConnectOptions;
  ssh?: SshTarget | undefined;
  /** The on-host agent that the host is reached through. */
  agent?: TunnelAgent | undefined;
  /** The password is a token of RDS: MySQL then wants it as it is, which only a TLS connection may carry. */
  iam?: boolean | undefined;
};

export type Row = Readonly<Record<string, unknown>>;

/** A user that is minted. The values already stand in the statements, but for mongo, whose document holds the rights alone. */
export type NewUser = { username: string; password: string };

/**
 * One authenticated connection. Everything rejects with DatabaseFault. Calls one at a time; after a timeout the session is closed, and the statement
 * is cancelled on the server where the engine can.
 */
export type DatabaseSession = {
  readonly engine: Engine;
  readonly serverVersion: string;
  /** The key that the jump host showed, `SHA256:…`; null without a tunnel. To be pinned at the first use. */
  readonly hostKey: string | null;
  /** Strikes these passwords out of the texts of later errors, whole and in parts; names as a whole. Those of the target are always struck out. */
  conceal(values: { names?: readonly string[]; passwords?: readonly string[] }): void;
  /** One statement. For mongo a command as JSON, run on the target's database. */
  run(statement: string): Promise<readonly Row[]>;
  /**
   * Runs the statements: PostgreSQL and SQL Server in one transaction, MySQL and MongoDB in turn, where a failure leaves what was done before it.
   * For mongo one statement: the JSON document of the rights (interface rule 44 §4.3). The fault says which statement failed, from 1.
   * `whole`: they begin or end transactions of their own, so that after a conflict none is repeated by itself.
   */
  createUser(user: NewUser, statements: readonly string[], whole?: boolean): Promise<void>;
  /** Makes the user usable until then. Resolves to false when the engine keeps no such time and nothing was done. */
  extendUser(username: string, expiresAt: Date): Promise<boolean>;
  /**
   * Removes the user and cuts its sessions; one that doesn't exist is success. The statements, when given, run first, each on its own; if one fails or
   * the user is still there, the engine's built-in removal follows. A transaction that they leave open is rolled back. Null: that alone. Waits for a creation that a lost session left running.
   */
  dropUser(username: string, statements: readonly string[] | null): Promise<void>;
  userExists(username: string): Promise<boolean>;
  /** What the admin lacks to mint such users of the built-in templates and to remove them, in words of the engine; empty when nothing. */
  missingPrivileges(use: AdminUse): Promise<readonly string[]>;
  /** Users named like ours (`svc_%_%_%`), sorted; at most 10,000. */
  mintedUsers(): Promise<readonly string[]>;
  /** Gives the admin itself another password: 16..128 of A-Z a-z 0-9 - _. The session goes on. */
  setOwnPassword(password: string): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
};

/** Names that stand in statements unquoted by us: they are checked here once more, wherever they came from. @throws TypeError */
export function plainName(name: string): string {
  if (!/^[a-z0-9_]{1,63}$/.test(name)) throw new TypeError('not the name of a minted user');
  return name;
}

/** @throws TypeError */
export function plainPassword(password: string): string {
  if (!/^[A-Za-z0-9_-]{16,128}$/.test(password)) throw new TypeError('not a password we made');
  return password;
}

/** Named like ours: `svc_%_%_%`. */
export const isMinted = (name: string): boolean => name.startsWith('svc_') && name.split('_').length > 3;
