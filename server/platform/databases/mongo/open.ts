import { type Document, MongoClient, type MongoClientOptions } from 'mongodb';
import type { Resolver } from '../../http-out/resolver.ts';
import { countdown, within } from '../deadline.ts';
import { type Line, openLine } from '../dial.ts';
import { CONNECT_TIMEOUT_MS, type DatabaseSession, type DatabaseTarget, DEFAULT_PORTS, STATEMENT_TIMEOUT_MS } from '../engine.ts';
import { DatabaseFault } from '../fault.ts';
import { concealedOf } from '../texts.ts';
import { tlsOptions } from '../tls.ts';
import { createWire, type Wire } from '../wire.ts';
import { type Bridge, openBridge } from './bridge.ts';
import { mongoFault } from './fault.ts';
import { askSrv, type HostPort, hostPort, type ResolveSrv, seedsOf } from './hosts.ts';
import { mongoSession } from './session.ts';

/**
 * A session on the primary of a MongoDB deployment. The driver is never told of members: they are names that servers give, and each passes the guard as
 * the named hosts do. @throws DatabaseFault
 */
export async function openMongo(target: DatabaseTarget, resolver: Resolver, resolveSrv: ResolveSrv = askSrv): Promise<DatabaseSession> {
  const left = countdown(target.options.connect_timeout_ms ?? CONNECT_TIMEOUT_MS);
  const late = () => new DatabaseFault('database_timeout', 'dns', 'The name was not resolved in time.');
  const seeds = await within(left(), seedsOf(target, resolveSrv), late);
  const line = await openLine(target, resolver, left());
  let found: Connected | undefined;
  try {
    found = await primary(target, seeds, line, left);
    const wire = await wireOf(target, found, line, left);
    return mongoSession(target, wire);
  } catch (error) {
    found?.close();
    line.close();
    throw error;
  }
}

type Connected = { client: MongoClient; bridge: Bridge; hello: Document; close(): void };

const MOST_HOPS = 3;

/** Each of the seeds until one is the primary, or says which is. */
async function primary(target: DatabaseTarget, seeds: readonly HostPort[], line: Line, left: () => number): Promise<Connected> {
  let last: unknown;
  for (const seed of seeds) {
    let place: HostPort | undefined = seed;
    try {
      for (let hop = 0; place && hop < MOST_HOPS; hop++) {
        const found: Connected = await connect(target, place, line, left);
        const { hello } = found;
        const named: unknown = hello.primary;
        const fits = target.options.replica_set === undefined || hello.setName === target.options.replica_set;
        if (fits && (hello.isWritablePrimary === true || hello.ismaster === true)) return found;
        found.close();
        if (!fits) throw new DatabaseFault('database_unreachable', 'tcp', 'The host is not of that replica set.');
        place = typeof named === 'string' ? hostPort(named, DEFAULT_PORTS.mongo) : undefined;
      }
      last = new DatabaseFault('database_unreachable', 'tcp', 'No primary of the replica set is known.');
    } catch (error) {
      last = error;
      // A login that was refused is refused everywhere, and guesses may lock the account.
      if (error instanceof DatabaseFault && (error.stage === 'auth' || error.type === 'database_timeout')) throw error;
    }
  }
  throw last;
}

async function connect(target: DatabaseTarget, { host, port }: HostPort, line: Line, left: () => number): Promise<Connected> {
  const { options, username, password } = target;
  const tls = tlsOptions({ sslmode: options.tls === false ? 'disable' : 'verify-full', ca_cert_pem: options.ca_cert_pem }, host);
  const bridge = await openBridge({ dial: () => line.dial(host, port, left()), tls });
  const client = new MongoClient(`mongodb://${encodeURIComponent(bridge.path)}/`, {
    ...FIXED,
    auth: { username, password },
    authSource: options.auth_source ?? 'admin',
    serverSelectionTimeoutMS: Math.ceil(left()),
    connectTimeoutMS: Math.ceil(left()),
  });
  client.on('error', () => undefined);
  const close = () => {
    bridge.close();
    void client.close(true).catch(() => undefined);
  };
  const failed = bridge.failed.then((fault) => Promise.reject(fault));
  try {
    // TLS and the login can't be told apart in time here; the bridge tells what TLS said.
    const late = () => new DatabaseFault('database_timeout', 'auth', 'The database did not answer in time.');
    const greeting = async () => {
      await client.connect();
      return client.db('admin').command({ hello: 1 });
    };
    const hello = await within(left(), Promise.race([greeting(), failed]), late);
    return { client, bridge, hello, close };
  } catch (error) {
    close();
    throw mongoFault(error, 'auth', concealedOf(target));
  }
}

const FIXED: MongoClientOptions = {
  directConnection: true,
  tls: false,
  appName: 'sallyport',
  maxPoolSize: 1,
  minPoolSize: 0,
  retryReads: false,
  retryWrites: false,
  // Nobody looks at the server beside what we ask.
  serverMonitoringMode: 'poll',
  heartbeatFrequencyMS: 3_600_000,
  monitorCommands: false,
};

async function wireOf(target: DatabaseTarget, { client, bridge }: Connected, line: Line, left: () => number): Promise<Wire> {
  const concealed = concealedOf(target);
  const statementMs = target.options.statement_timeout_ms ?? STATEMENT_TIMEOUT_MS;
  const faultOf = (error: unknown) => mongoFault(error, 'statement', concealed);
  const late = () => new DatabaseFault('database_timeout', 'statement', 'The database did not answer in time.');
  const info = await within(left(), client.db('admin').command({ buildInfo: 1 }), late).catch((error: unknown) => {
    throw faultOf(error);
  });
  const driver = {
    serverVersion: String(info.version ?? '').slice(0, 100),
    async send(statement: string) {
      const { db, command } = JSON.parse(statement) as { db: string; command: Document };
      return [await client.db(db).command({ ...command, maxTimeMS: statementMs })];
    },
    // maxTimeMS ends it on the server.
    cancel: async () => undefined,
    end: () => client.close(),
    cut: () => {
      bridge.close();
      void client.close(true).catch(() => undefined);
    },
    refill: () => bridge.refill(),
    faultOf,
  };
  return createWire(driver, line, concealed, statementMs);
}
