import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import mysql, { type Connection, type ConnectionOptions } from 'mysql2';
import type { Resolver } from '../../http-out/resolver.ts';
import type { BoundedStream } from '../bounded-stream.ts';
import { contained } from '../contained.ts';
import { countdown, within } from '../deadline.ts';
import { type Line, openLine } from '../dial.ts';
import { CONNECT_TIMEOUT_MS, type DatabaseSession, type DatabaseTarget, DEFAULT_PORTS, type Row, STATEMENT_TIMEOUT_MS } from '../engine.ts';
import { DatabaseFault, type Stage } from '../fault.ts';
import { sqlSession } from '../sql-session.ts';
import { concealedOf } from '../texts.ts';
import { refuseAddress, tlsOptions } from '../tls.ts';
import { createWire } from '../wire.ts';
import { dialectOf, SQL_MODE } from './dialect.ts';
import { mysqlFault } from './fault.ts';

/** A session on a MySQL or MariaDB server. @throws DatabaseFault */
export async function openMysql(target: DatabaseTarget, resolver: Resolver): Promise<DatabaseSession> {
  refuseAddress(target.options, target.host);
  const left = countdown(target.options.connect_timeout_ms ?? CONNECT_TIMEOUT_MS);
  const line = await openLine(target, resolver, left());
  try {
    return await login(target, line, left);
  } catch (error) {
    line.close();
    throw error;
  }
}

const CANCEL_CONNECT_MS = 2_500;

async function login(target: DatabaseTarget, line: Line, left: () => number): Promise<DatabaseSession> {
  const statementMs = target.options.statement_timeout_ms ?? STATEMENT_TIMEOUT_MS;
  const concealed = concealedOf(target);
  const faultOf = (error: unknown) => mysqlFault(error, 'statement', concealed);
  const connect = async (patience: () => number) => {
    const stream = await line.dial(target.host, target.port ?? DEFAULT_PORTS.mysql, patience());
    const { connection, stage, ready, handshake } = start(target, stream);
    const late = () => new DatabaseFault('database_timeout', stage(), 'The database did not answer in time.');
    await within(patience(), ready, late).catch(async (error: unknown) => {
      // The driver may hear that the connection closed before it hears why.
      await setImmediate();
      stream.destroy();
      throw mysqlFault(stage() === 'tls' ? (handshake() ?? error) : error, stage(), concealed);
    });
    return { connection, stream };
  };

  const { connection, stream } = await connect(left);
  try {
    const late = () => new DatabaseFault('database_timeout', 'statement', 'The database did not answer in time.');
    await within(left(), send(connection, SETTINGS(statementMs)), late);
    const [row] = await within(left(), send(connection, 'SELECT VERSION() AS version'), late);
    const wire = createWire(
      {
        serverVersion: String(row?.version ?? '').slice(0, 100),
        send: (statement) => send(connection, statement),
        async cancel() {
          const other = await connect(() => CANCEL_CONNECT_MS);
          await send(other.connection, `KILL ${Number(connection.threadId)}`).finally(() => other.stream.destroy());
        },
        end: () => new Promise((resolve) => connection.end(() => resolve())),
        cut: () => stream.destroy(),
        refill: () => stream.refill(),
        faultOf,
      },
      line,
      concealed,
      statementMs,
    );
    return sqlSession('mysql', wire, dialectOf(target));
  } catch (error) {
    stream.destroy();
    throw faultOf(error);
  }
}

const SETTINGS = (milliseconds: number) => `${SQL_MODE}, SESSION lock_wait_timeout = ${Math.max(1, Math.floor(milliseconds / 1_000))}`;

function start(target: DatabaseTarget, stream: BoundedStream) {
  const { options, host, username, password, database, iam } = target;
  const tls = tlsOptions(options, host);
  let stage: Stage = tls ? 'tls' : 'auth';
  let failure: unknown;
  const config: ConnectionOptions & { enableCleartextPlugin: boolean; disableEval: boolean } = {
    stream: () => stream,
    host,
    user: username,
    password,
    ...(database === null ? {} : { database }),
    // A server that asks for a file of ours gets none, and is told so at the beginning.
    flags: ['-LOCAL_FILES'],
    multipleStatements: false,
    connectTimeout: 0,
    disableEval: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    // A token of RDS is sent as it is; a password never.
    enableCleartextPlugin: iam === true && tls !== null,
    ...(tls && {
      ssl: {
        rejectUnauthorized: tls.rejectUnauthorized,
        verifyIdentity: options.sslmode === 'verify-full',
        minVersion: 'TLSv1.2',
        ...(options.ca_cert_pem === undefined ? {} : { ca: options.ca_cert_pem }),
      },
    }),
  };
  const connection = mysql.createConnection(config);
  // The driver replaces the stream by an encrypted one, of which the same must hold.
  let current = (connection as unknown as { stream: Duplex }).stream;
  Object.defineProperty(connection, 'stream', {
    get: () => current,
    set(next: Duplex) {
      current = contained(next);
      next.once('secureConnect', () => {
        stage = 'auth';
      });
      // Before the driver's own listener, which writes another code into the error.
      next.prependOnceListener('error', ({ code, message }: NodeJS.ErrnoException) => {
        failure = { code, message };
      });
    },
  });
  const ready = new Promise<void>((resolve, reject) => {
    connection.on('error', reject);
    connection.once('connect', () => resolve());
  });
  return { connection, ready, stage: () => stage, handshake: () => failure };
}

const send = (connection: Connection, sql: string): Promise<readonly Row[]> =>
  new Promise((resolve, reject) => {
    connection.query({ sql }, (error, rows) => {
      if (error) reject(error);
      else resolve(Array.isArray(rows) ? (rows as Row[]).filter((row) => !Array.isArray(row)) : []);
    });
  });
