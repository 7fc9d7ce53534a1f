import { TooMuch } from './bounded-stream.ts';
import { within } from './deadline.ts';
import type { Line } from './dial.ts';
import type { Row } from './engine.ts';
import { DatabaseFault } from './fault.ts';
import type { Concealed } from './texts.ts';

/** A connection that is logged in and answers one statement after the other. */
export type Wire = {
  readonly serverVersion: string;
  readonly hostKey: string | null;
  readonly concealed: Concealed;
  /** One statement within the time of statements. @throws DatabaseFault */
  query(statement: string): Promise<readonly Row[]>;
  /** Several of our own in one message, where the engine can. */
  script(statements: readonly string[]): Promise<void>;
  /** The warning of the last statement that it granted less than it says; null without one. Left out where the engine refuses such a statement. */
  lessGranted?: (() => string | null) | undefined;
  close(): Promise<void>;
};

/** What a driver does for a wire. */
export type Driver = {
  serverVersion: string;
  send(statement: string): Promise<readonly Row[]>;
  /** Left out: one after the other. */
  script?: ((statements: readonly string[]) => Promise<unknown>) | undefined;
  lessGranted?: (() => string | null) | undefined;
  /** Stops what runs on the server, by whatever way it has. May fail. */
  cancel(): Promise<void>;
  /** Says goodbye; the connection is cut afterwards anyway. */
  end(): Promise<void>;
  cut(): void;
  refill(): void;
  faultOf(error: unknown): DatabaseFault;
};

/** On the server the time is over first, so that a slow statement is one that the server itself reports. */
export const GRACE_MS = 1_000;
const GOODBYE_MS = 1_000;
const CANCEL_MS = 3_000;

export function createWire(driver: Driver, line: Line, concealed: Concealed, statementMs: number): Wire {
  let broken: DatabaseFault | undefined;

  async function timed<T>(work: () => Promise<T>): Promise<T> {
    if (broken) throw broken;
    driver.refill();
    try {
      return await within(statementMs + GRACE_MS, work(), () => new Late());
    } catch (error) {
      if (!(error instanceof Late)) throw driver.faultOf(error);
      broken = lateFault();
      // Whoever removes the user next must not race with a statement that is still at work.
      await within(CANCEL_MS, driver.cancel(), () => new Late()).catch(() => undefined);
      cut();
      throw broken;
    }
  }

  function cut() {
    broken ??= new DatabaseFault('database_unreachable', 'statement', 'The session is closed.');
    driver.cut();
    line.close();
  }

  return {
    serverVersion: driver.serverVersion,
    hostKey: line.hostKey,
    concealed,
    lessGranted: driver.lessGranted,
    query: (statement) => timed(() => driver.send(statement)),
    async script(statements) {
      const { script } = driver;
      if (script) await timed(() => script(statements));
      else for (const statement of statements) await timed(() => driver.send(statement));
    },
    async close() {
      if (!broken) await within(GOODBYE_MS, driver.end(), () => new Late()).catch(() => undefined);
      cut();
    },
  };
}

class Late extends Error {}

export const lateFault = (): DatabaseFault => new DatabaseFault('database_timeout', 'statement', 'The database did not answer in time.');

/** Of errors that no server sent: what happened to the connection, in our words. */
export function brokenFault(error: unknown, stage: DatabaseFault['stage']): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  if (error instanceof TooMuch) return new DatabaseFault('database_unreachable', stage, error.message);
  return new DatabaseFault('database_unreachable', stage, 'The connection to the database was lost.');
}
