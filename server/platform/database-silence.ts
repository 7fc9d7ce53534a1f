import pg from 'pg';
import { asOurs, sqlStateOf } from '#server/kernel/outage.ts';
import { processState } from '#server/kernel/process-state.ts';

// A database that is paused, or behind a network that drops packets, answers nothing and closes nothing. Each statement and each connection has a time of its
// own, and a call makes several: together they would last minutes. So what waits is compared with what a new connection is told. While that is nothing, the
// database is away: whatever waits for it ends, and whatever comes next is refused at once.

/** How long a statement or a connection waits before the server is asked. */
const WAITS_MS = 3_000;
/** How long the server has to open a connection and to answer on it. */
const ANSWERS_MS = 5_000;
const LOOK_MS = 1_000;
/** The time for an answer is counted in steps: a loop that was held up does not take its own pause for the server's. */
const STEP_MS = 100;

type Wire = { connection: NodeJS.EventEmitter & { stream: { bytesRead: number; destroy(): void } }; readyForQuery: boolean };
type Waiting = { since: number; refuse: (error: Error) => void };
type Server = {
  pools: number;
  timer: NodeJS.Timeout;
  /** Open connections, with what they had heard when they were last idle or heard more. */
  clients: Map<pg.PoolClient, { bytes: number; since: number }>;
  opening: Set<Waiting>;
  silent: boolean;
  asking: boolean;
  answeredAt: number;
};
export type Silence = {
  /** Whether the server answers nothing at the moment. */
  readonly silent: boolean;
  opened(client: pg.PoolClient): void;
  closed(client: pg.PoolClient): void;
  /** Somebody waits for a connection; `refuse` is called when the server turns out to be silent. @returns what ends it */
  waits(refuse: (error: Error) => void): () => void;
  /** The pool ends. */
  end(): void;
};

const servers = processState('database-silence', () => new Map<string, Server>());

/** Watches over a pool's connections to its server, together with the other pools of the process; `onSilence` runs when the server turns out to be silent. */
export function watchSilence(config: pg.PoolConfig, onSilence: () => void): Silence {
  const key = config.connectionString ?? `${config.host} ${config.port}`;
  let server = servers.get(key);
  if (!server) {
    const made: Server = {
      pools: 0,
      timer: setInterval(look, LOOK_MS),
      clients: new Map(),
      opening: new Set(),
      silent: false,
      asking: false,
      answeredAt: Number.NEGATIVE_INFINITY,
    };
    function look() {
      const waited = isWaitedFor(made);
      // A statement may well take minutes: the server isn't asked each second meanwhile.
      if (made.silent || (waited && performance.now() - made.answeredAt >= WAITS_MS)) void ask(made, config, onSilence);
    }
    made.timer.unref();
    servers.set(key, made);
    server = made;
  }
  const { clients, opening } = server;
  const own = server;
  own.pools++;
  return {
    get silent() {
      return own.silent;
    },
    opened: (client) => void clients.set(client, { bytes: 0, since: performance.now() }),
    closed: (client) => void clients.delete(client),
    waits(refuse) {
      const entry = { since: performance.now(), refuse };
      opening.add(entry);
      return () => void opening.delete(entry);
    },
    end() {
      if (--own.pools > 0) return;
      clearInterval(own.timer);
      if (servers.get(key) === own) servers.delete(key);
    },
  };
}

/** What is told to whoever needs a silent server. */
export const silenceError = (): Error =>
  asOurs(Object.assign(new Error("connection timeout: the database doesn't answer"), { code: 'ETIMEDOUT' }));

/** Whether a connection still waits for an answer of the server. */
export const isBusy = (client: pg.PoolClient): boolean => !wireOf(client).readyForQuery;

const wireOf = (client: pg.PoolClient) => client as unknown as Wire;

function isWaitedFor({ clients, opening }: Server): boolean {
  const now = performance.now();
  let waited = false;
  for (const [client, heard] of clients) {
    const { bytesRead } = wireOf(client).connection.stream;
    if (!isBusy(client) || bytesRead !== heard.bytes) Object.assign(heard, { bytes: bytesRead, since: now });
    else waited ||= now - heard.since >= WAITS_MS;
  }
  for (const { since } of opening) waited ||= now - since >= WAITS_MS;
  return waited;
}

async function ask(server: Server, config: pg.PoolConfig, onSilence: () => void): Promise<void> {
  if (server.asking) return;
  server.asking = true;
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 0, query_timeout: undefined });
  client.on('error', () => {});
  let looks = ANSWERS_MS / STEP_MS;
  const timer = setInterval(() => --looks === 0 && wireOf(client as never).connection.stream.destroy(), STEP_MS).unref();
  try {
    await client.connect();
    await client.query('select 1');
    server.silent = false;
    server.answeredAt = performance.now();
  } catch (error) {
    // An error with a SQLSTATE is an answer.
    server.silent = sqlStateOf(error) === '';
    if (server.silent) endWaiting(server, onSilence);
  } finally {
    clearInterval(timer);
    server.asking = false;
    void client.end().catch(() => {});
  }
}

function endWaiting(server: Server, onSilence: () => void): void {
  isWaitedFor(server);
  const before = performance.now() - WAITS_MS;
  onSilence();
  for (const [client, { since }] of server.clients) if (isBusy(client) && since <= before) wireOf(client).connection.stream.destroy();
  for (const waiting of [...server.opening]) waiting.refuse(silenceError());
  server.opening.clear();
}
