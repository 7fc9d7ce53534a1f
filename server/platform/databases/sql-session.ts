import { retryConflicts, retryingWire } from './conflicts.ts';
import { type AdminUse, type DatabaseSession, type Engine, plainName, plainPassword, type Row } from './engine.ts';
import { DatabaseFault } from './fault.ts';
import type { Wire } from './wire.ts';

/** How one engine of SQL says what sessions do. */
export type Dialect = {
  /** Around the statements of a creation; null where each is final at once. */
  transaction: { begin(username: string): readonly string[]; commit: string; rollback: string } | null;
  /** The engine's own removal of a user, safe to repeat. */
  remove(wire: Wire, username: string): Promise<void>;
  /** True also when it can't be told. */
  exists(wire: Wire, username: string): Promise<boolean>;
  /** One row each, its first column a name. */
  minted: string;
  missing(wire: Wire, use: AdminUse): Promise<string[]>;
  /** After a statement of a creation, where one may do less than it says. @throws DatabaseFault */
  assertDone?(wire: Wire, username: string, statement: string): Promise<void>;
  renewal(username: string, expiresAt: Date): string | null;
  ownPassword(password: string, serverVersion: string): string;
};

const MOST_NAMES = 10_000;

export function sqlSession(engine: Engine, plain: Wire, dialect: Dialect): DatabaseSession {
  const wire = retryingWire(plain);
  const run = (statement: string) => wire.query(statement);

  /** The fault of a statement says which it was. */
  async function runAll(on: Wire, username: string, statements: readonly string[]): Promise<void> {
    const each = async (statement: string) => {
      await on.query(statement);
      await dialect.assertDone?.(on, username, statement);
    };
    for (const [i, statement] of statements.entries()) await each(statement).catch((error: unknown) => fail(error, i + 1));
  }

  /** All of them or none, from the start again after a conflict, which ended the transaction. */
  async function transact(
    { begin, commit, rollback }: NonNullable<Dialect['transaction']>,
    username: string,
    statements: readonly string[],
  ) {
    await plain.script(begin(username));
    try {
      await runAll(plain, username, statements);
      await plain.query(commit);
    } catch (error) {
      await plain.query(rollback).catch(() => undefined);
      throw error;
    }
  }

  const exists = (username: string) => dialect.exists(wire, plainName(username));

  return {
    engine,
    serverVersion: wire.serverVersion,
    hostKey: wire.hostKey,
    conceal({ names = [], passwords = [] }) {
      for (const name of names) wire.concealed.names.add(name);
      for (const password of passwords) wire.concealed.passwords.add(password);
    },
    run,

    async createUser({ username, password }, statements, whole = false) {
      wire.concealed.names.add(plainName(username));
      wire.concealed.passwords.add(plainPassword(password));
      const { transaction } = dialect;
      await (transaction
        ? retryConflicts(() => transact(transaction, username, statements))
        : runAll(whole ? plain : wire, username, statements));
    },

    async extendUser(username, expiresAt) {
      const statement = dialect.renewal(plainName(username), expiresAt);
      if (statement !== null) await run(statement);
      return statement !== null;
    },

    async dropUser(username, statements) {
      wire.concealed.names.add(plainName(username));
      // What fails here may have been done by an attempt whose answer was lost; whether the user is gone decides.
      for (const statement of statements ?? []) await run(statement).catch(unlessLost);
      // In a transaction that is left open the user seems to be gone, and comes back when the session ends.
      if (statements !== null) await run(dialect.transaction?.rollback ?? 'ROLLBACK').catch(unlessLost);
      if (statements === null || (await exists(username))) await dialect.remove(wire, username);
    },

    userExists: exists,
    missingPrivileges: (use) => dialect.missing(wire, use),

    async mintedUsers() {
      return namesIn(await run(dialect.minted));
    },

    async setOwnPassword(password) {
      wire.concealed.passwords.add(plainPassword(password));
      await run(dialect.ownPassword(password, wire.serverVersion));
    },

    close: () => wire.close(),
  };
}

function fail(error: unknown, statement: number): never {
  throw error instanceof DatabaseFault ? error.at(statement) : error;
}

/** A refused statement is passed over; a lost connection isn't. */
function unlessLost(error: unknown): void {
  if (!(error instanceof DatabaseFault) || error.type !== 'database_error') throw error;
}

const namesIn = (rows: readonly Row[]): string[] =>
  [...new Set(rows.map((row) => String(Object.values(row)[0])))].sort().slice(0, MOST_NAMES);
