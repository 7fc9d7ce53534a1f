import pg from 'pg';
import { asOurs } from '#server/kernel/outage.ts';
import { processState } from '#server/kernel/process-state.ts';
import { dropConnections } from './healing-pool.ts';
import { log } from './log.ts';
import { connection } from './sql.ts';

export type Listener = { close(): Promise<void> };

export type ListenOptions = {
  channels: readonly string[];
  onMessage: (channel: string, payload: string) => void;
  /** Each time LISTEN holds (again): what was announced before that moment was not heard. */
  onConnect?: () => void;
  /** Each time the connection is lost or can't be made. */
  onLost?: () => void;
  /** Milliseconds between questions to a silent connection; 10 s. */
  heartbeatMs?: number;
};

const listening = processState('listeners', () => new Set<Listener>());

/** Closes all that are open, whoever has them: at the end of the process, or of a test file. */
export const closeListeners = async (): Promise<void> => void (await Promise.all([...listening].map((listener) => listener.close())));

/** A process that only reads would stay with a server that is no longer the primary: this finds it, for the pools too. @throws on a server that takes no changes */
async function assertPrimary(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ read_only: string }>("select current_setting('transaction_read_only') as read_only");
  if (rows[0]?.read_only !== 'on') return;
  dropConnections();
  throw Object.assign(new Error('the database server takes no changes'), { code: '25006' });
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;

/**
 * LISTEN on one connection of its own, for ever: a lost or half-open connection is replaced with a growing delay. Messages of the time
 * between are lost by nature, so a listener must ask again in `onConnect`.
 */
export function listen({ channels, onMessage, onConnect, onLost, heartbeatMs = 10_000 }: ListenOptions): Listener {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let delay = FIRST_DELAY_MS;
  let lostAt: number | undefined;

  const connect = async () => {
    const { idleTimeoutMillis: _, ...config } = connection();
    const mine = new pg.Client({ ...config, application_name: 'sallyport-listen', query_timeout: heartbeatMs });
    client = mine;
    mine.on('error', (error) => lost(mine, error));
    mine.on('end', () => lost(mine, new Error('connection terminated')));
    mine.on('notification', ({ channel, payload }) => onMessage(channel, payload ?? ''));
    try {
      await mine.connect();
      await assertPrimary(mine);
      await mine.query(channels.map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join(';'));
      delay = FIRST_DELAY_MS;
      if (lostAt !== undefined) log.info({ channels, away_ms: Math.round(performance.now() - lostAt) }, 'the LISTEN connection is back');
      lostAt = undefined;
      onConnect?.();
      beat(mine);
    } catch (error) {
      lost(mine, error);
    }
  };

  /** A connection that a firewall dropped silently looks alive until something is asked on it, and nothing is announced on a server that takes no changes. */
  const beat = (mine: pg.Client) => {
    timer = setTimeout(() => {
      if (client !== mine) return;
      assertPrimary(mine).then(
        () => beat(mine),
        (error: unknown) => lost(mine, error),
      );
    }, heartbeatMs);
    timer.unref();
  };

  const lost = (mine: pg.Client, error: unknown) => {
    if (client !== mine) return;
    client = undefined;
    clearTimeout(timer);
    mine.end().catch(() => {}); // it is gone already; this only frees the socket
    if (closed) return;
    log.warn({ channels, err: asOurs(error), retry_in_ms: delay }, 'the LISTEN connection was lost');
    timer = setTimeout(() => void connect(), delay);
    delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    lostAt ??= performance.now();
    onLost?.();
  };

  void connect();
  const listener: Listener = {
    async close() {
      closed = true;
      listening.delete(listener);
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
  listening.add(listener);
  return listener;
}
