import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import type { Resolver } from '../../http-out/resolver.ts';
import type { BoundedStream } from '../bounded-stream.ts';
import { contained } from '../contained.ts';
import { countdown, within } from '../deadline.ts';
import { type Line, openLine } from '../dial.ts';
import { CONNECT_TIMEOUT_MS, type DatabaseSession, type DatabaseTarget, DEFAULT_PORTS, STATEMENT_TIMEOUT_MS } from '../engine.ts';
import { DatabaseFault, type Stage } from '../fault.ts';
import { sqlSession } from '../sql-session.ts';
import { concealedOf } from '../texts.ts';
import { tlsOptions } from '../tls.ts';
import { createWire } from '../wire.ts';
import { sendCancel } from './cancel.ts';
import { dialect } from './dialect.ts';
import { postgresFault } from './fault.ts';
import { LESS_GRANTED } from './privileges.ts';

const CANCEL_DIAL_MS = 2_000;

/** A session on a PostgreSQL server. @throws DatabaseFault */
export async function openPostgres(target: DatabaseTarget, resolver: Resolver): Promise<DatabaseSession> {
  const left = countdown(target.options.connect_timeout_ms ?? CONNECT_TIMEOUT_MS);
  const line = await openLine(target, resolver, left());
  try {
    return await login(target, line, left);
  } catch (error) {
    line.close();
    throw error;
  }
}

async function login(target: DatabaseTarget, line: Line, left: () => number): Promise<DatabaseSession> {
  const { host, database, username, password, options } = target;
  const port = target.port ?? DEFAULT_PORTS.postgres;
  const statementMs = options.statement_timeout_ms ?? STATEMENT_TIMEOUT_MS;
  const concealed = concealedOf(target);
  const ssl = tlsOptions(options, host) ?? false;
  let stage: Stage = ssl === false ? 'auth' : 'tls';
  const faultOf = (error: unknown) => postgresFault(error, stage, concealed);

  const stream = await line.dial(host, port, left());
  const client = new pg.Client(configOf(stream, { host, port, user: username, password, database: database ?? 'postgres', ssl }));
  client.on('error', () => undefined);
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  let serverVersion = '';
  connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
    if (parameterName === 'server_version') serverVersion = String(parameterValue).slice(0, 100);
  });
  let lessGranted: string | null = null;
  client.on('notice', ({ code, message }) => {
    if (code === LESS_GRANTED) lessGranted ??= String(message).slice(0, 200);
  });
  let handshake: unknown;
  connection.on('sslconnect', () => {
    const tls = contained((connection as unknown as { stream: Duplex }).stream);
    tls.once('secureConnect', () => {
      stage = 'auth';
    });
    tls.once('error', (error) => {
      handshake = error;
    });
  });
  try {
    const late = () => new DatabaseFault('database_timeout', stage, 'The database did not answer in time.');
    await within(left(), client.connect(), late);
    stage = 'statement';
    // Not as parameters of the start: poolers between us and the server refuse those.
    await within(left(), client.query(`SET statement_timeout = ${statementMs}; SET client_min_messages = warning`), late);
    const wire = createWire(
      {
        serverVersion,
        // The extended protocol takes exactly one statement, whatever stands in the text.
        script: (statements) => client.query(statements.join('; ')),
        send: async (text) => {
          lessGranted = null;
          return (await client.query({ text, queryMode: 'extended' } as pg.QueryConfig)).rows;
        },
        lessGranted: () => lessGranted,
        cancel: () => sendCancel(client, () => line.dial(host, port, CANCEL_DIAL_MS)),
        end: () => client.end(),
        cut: () => stream.destroy(),
        refill: () => stream.refill(),
        faultOf,
      },
      line,
      concealed,
      statementMs,
    );
    return sqlSession('postgres', wire, dialect);
  } catch (error) {
    // The driver may hear that the connection closed before it hears why.
    await setImmediate();
    stream.destroy();
    throw faultOf(stage === 'tls' ? (handshake ?? error) : error);
  }
}

const configOf = (stream: BoundedStream, given: pg.ClientConfig): pg.ClientConfig => ({
  ...given,
  // The driver asks it to connect, which it is already.
  stream: () => stream as never,
  application_name: 'sallyport',
  keepAlive: false,
});
