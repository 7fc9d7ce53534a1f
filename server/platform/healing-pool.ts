import pg from 'pg';
import { asOurs, outageOfState } from '#server/kernel/outage.ts';
import { processState } from '#server/kernel/process-state.ts';
import { isBusy, silenceError, watchSilence } from './database-silence.ts';

// PostgreSQL moves to another server: the old one ends, or lives on as a standby that takes no changes, and the same address leads to the new one. A pool
// that kept its connections would stay with the old server for ever.

const held = processState('healing-pools', () => ({ droppers: new Set<() => void>(), dropped: Number.NEGATIVE_INFINITY }));

/** While the server takes no changes, every change meets that: connecting anew each time would cost more than the outage. */
const APART_MS = 1_000;

/**
 * A pool that replaces connections by itself: every pool of the product. A connection on which the server said that it ends connections, or takes no
 * changes, is closed when it is given back. In the second case all others of this process follow, idle ones at once, since reads would go on there unnoticed.
 * While the server answers nothing, no connection is lent and statements that wait for it end. Its errors are marked as ours.
 */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  const all = new Set<pg.PoolClient>();
  const idle = new Set<pg.PoolClient>();
  const doomed = new WeakSet<pg.PoolClient>();
  const drop = () => {
    for (const client of all) doomed.add(client);
    // What the driver itself does with an idle connection that was lost: the pool removes and ends it.
    for (const client of [...idle]) client.emit('error', new Error('the database server takes no changes'));
  };
  held.droppers.add(drop);
  const silence = watchSilence(config, dropConnections);
  // A lost connection rejects the query that ran on it; without the two listeners its event would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    all.add(client);
    marksErrors(client);
    silence.opened(client);
    client.on('error', asOurs); // before the queries that ran on it are told the same error
    onServerError(client, (error) => {
      const state = asOurs(error).code ?? '';
      const outage = outageOfState(state);
      if (outage === 'lost' || outage === 'read_only') doomed.add(client);
      if (outage === 'read_only') dropConnections();
    });
  });
  pool.on('acquire', (client) => idle.delete(client));
  pool.on('release', (error, client) => {
    if (error) return; // the pool closes it
    // One that waits for an answer still, given back after a timeout, belongs to a server that hangs.
    if (doomed.has(client) || isBusy(client)) void client.end();
    else idle.add(client);
  });
  pool.on('remove', (client) => {
    all.delete(client);
    idle.delete(client);
    silence.closed(client);
  });
  const connect = pool.connect.bind(pool) as (done: Connected) => void;
  const lend = (done: Connected) => {
    if (silence.silent) return done(silenceError(), undefined, () => {});
    let refused = false;
    const ended = silence.waits((error) => {
      refused = true;
      done(error, undefined, () => {});
    });
    connect((error, client, release) => {
      ended();
      if (!refused) done(asOurs(error), client, release);
      else if (client) release();
    });
  };
  pool.connect = ((done?: Connected) => {
    if (done) return lend(done);
    return new Promise<pg.PoolClient>((resolve, reject) => lend((error, client) => (client ? resolve(client) : reject(error))));
  }) as typeof pool.connect;
  const end = pool.end.bind(pool) as () => Promise<void>;
  pool.end = (() => {
    held.droppers.delete(drop);
    silence.end();
    return end();
  }) as typeof pool.end;
  return pool;
}

/** Has every pool of this process connect anew, at most once a second: the server that they lead to takes no changes. */
export function dropConnections(): void {
  const now = performance.now();
  if (now - held.dropped < APART_MS) return;
  held.dropped = now;
  for (const drop of held.droppers) drop();
}

/** For connections that no pool gives back, such as those of the job queue. @returns what ends it */
export function onDropConnections(drop: () => void): () => void {
  held.droppers.add(drop);
  return () => void held.droppers.delete(drop);
}

/** The driver's own refusals, such as that of a statement which takes too long, are no event of the connection: its queries are asked. */
function marksErrors(client: pg.PoolClient): void {
  // Looked up at each call: tests watch statements at the driver.
  const query = (args: unknown[]) => (pg.Client.prototype.query as (...args: unknown[]) => unknown).apply(client, args);
  client.query = ((...args: unknown[]) => {
    const done = args.at(-1);
    if (typeof done === 'function') args[args.length - 1] = (error: unknown, ...rest: unknown[]) => done(asOurs(error), ...rest);
    const result = query(args);
    return result instanceof Promise ? result.catch((error: unknown) => Promise.reject(asOurs(error))) : result;
  }) as typeof client.query;
}

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: boolean) => void) => void;
type Wire = { connection: NodeJS.EventEmitter };

/** The driver's own events: a pool that lends its connections sees no error of theirs otherwise. */
const onServerError = (client: pg.PoolClient, report: (error: { code?: string }) => void) =>
  (client as unknown as Wire).connection.on('errorMessage', report);
