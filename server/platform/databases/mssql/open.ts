import { Connection, type ConnectionConfiguration, Request } from 'tedious';
import type { Resolver } from '../../http-out/resolver.ts';
import type { BoundedStream } from '../bounded-stream.ts';
import { countdown, within } from '../deadline.ts';
import { type Line, openLine } from '../dial.ts';
import { CONNECT_TIMEOUT_MS, type DatabaseSession, type DatabaseTarget, DEFAULT_PORTS, type Row, STATEMENT_TIMEOUT_MS } from '../engine.ts';
import { DatabaseFault } from '../fault.ts';
import { sqlSession } from '../sql-session.ts';
import { concealedOf } from '../texts.ts';
import { tlsOptions } from '../tls.ts';
import { createWire } from '../wire.ts';
import { dialectOf } from './dialect.ts';
import { mssqlFault } from './fault.ts';

/** A session on a SQL Server. @throws DatabaseFault */
export async function openMssql(target: DatabaseTarget, resolver: Resolver): Promise<DatabaseSession> {
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
  const statementMs = target.options.statement_timeout_ms ?? STATEMENT_TIMEOUT_MS;
  const concealed = concealedOf(target);
  const streams = new Set<BoundedStream>();
  // Called once more when a server sends us elsewhere: that address passes the guard too.
  const connector = async ({ host, port }: { host: string; port: number }) => {
    const stream = await line.dial(host, port, left());
    streams.add(stream);
    return stream as never;
  };
  const connection = new Connection(configOf(target, connector, left()));
  connection.on('error', () => undefined);
  const cut = () => {
    connection.close();
    for (const stream of streams) stream.destroy();
  };
  try {
    const late = () => new DatabaseFault('database_timeout', 'auth', 'The database did not answer in time.');
    await within(left(), connected(connection), late);
    const settings = `SET XACT_ABORT ON; SET LOCK_TIMEOUT ${statementMs}; SELECT CONVERT(nvarchar(100), SERVERPROPERTY('ProductVersion')) AS version`;
    const [row] = await within(left(), send(connection, settings), late);
    const wire = createWire(
      {
        serverVersion: String(row?.version ?? '').slice(0, 100),
        send: (statement) => send(connection, statement),
        cancel: async () => void connection.cancel(),
        end: async () => undefined,
        cut,
        refill: () => {
          for (const stream of streams) stream.refill();
        },
        faultOf: (error) => mssqlFault(error, 'statement', concealed),
      },
      line,
      concealed,
      statementMs,
    );
    return sqlSession('mssql', wire, dialectOf(target));
  } catch (error) {
    cut();
    throw mssqlFault(error, 'auth', concealed);
  }
}

function configOf(
  target: DatabaseTarget,
  connector: (place: { host: string; port: number }) => Promise<never>,
  patience: number,
): ConnectionConfiguration {
  const { options, host, port, database, username, password } = target;
  const tls = tlsOptions(options, host);
  return {
    server: host,
    authentication: { type: 'default', options: { userName: username, password } },
    options: {
      port: port ?? DEFAULT_PORTS.mssql,
      ...(database === null ? {} : { database }),
      // Its type has no arguments, but it is told where to go.
      connector: connector as never,
      encrypt: tls !== null,
      // The driver checks issuer and name, or neither: verify-ca is verify-full here.
      trustServerCertificate: tls?.rejectUnauthorized !== true,
      cryptoCredentialsDetails: { minVersion: 'TLSv1.2', ...(options.ca_cert_pem === undefined ? {} : { ca: options.ca_cert_pem }) },
      // Our own deadlines hold; the driver's timer outlives a connection that failed.
      connectTimeout: Math.ceil(patience) + 100,
      requestTimeout: 0,
      maxRetriesOnTransientErrors: 0,
      appName: 'sallyport',
      workstationId: 'sallyport',
    },
  };
}

const connected = (connection: Connection): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.once('end', () => reject(new Error('closed')));
    connection.connect((error) => (error ? reject(error) : resolve()));
  });

/** One batch. `GO` is a word of client programs and means nothing here. */
const send = (connection: Connection, sql: string): Promise<readonly Row[]> =>
  new Promise((resolve, reject) => {
    const rows: Row[] = [];
    const lost = () => reject(new Error('closed'));
    const request = new Request(sql, (error) => {
      connection.off('end', lost);
      if (error) reject(error);
      else resolve(rows);
    });
    request.on('row', (columns: { metadata: { colName: string }; value: unknown }[]) => {
      rows.push(Object.fromEntries(columns.map(({ metadata, value }) => [metadata.colName, value])));
    });
    connection.once('end', lost);
    connection.execSqlBatch(request);
  });
