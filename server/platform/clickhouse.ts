import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';

// The operator's ClickHouse, over HTTP. Values are always bound: `{name:Type}` in a statement, by their name beside it.

export type Bound = Readonly<Record<string, unknown>>;

/** ClickHouse can't be reached, took too long or refused. Its message is for operators. */
export class ClickHouseError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error && cause.message ? cause.message.slice(0, 500) : 'no answer', { cause });
    this.name = 'ClickHouseError';
  }
}

/** How long a reader waits for an answer. */
const READ_MS = 5_000;
const WRITE_MS = 60_000;
/** After one reader waited in vain, the next ones are told so at once. */
const PAUSE_MS = 5_000;

const held = processState('clickhouse', (): { client?: Promise<ClickHouseClient> | undefined; pausedUntil: number } => ({
  pausedUntil: 0,
}));

export const hasClickHouse = (): boolean => env.CLICKHOUSE_URL !== undefined;

/** Rows that a SELECT finds, within five seconds. @throws ClickHouseError */
export async function clickHouseRows<Row>(statement: string, bound: Bound = {}): Promise<Row[]> {
  if (Date.now() < held.pausedUntil) throw new ClickHouseError(new Error('it did not answer a moment ago'));
  const deadline = AbortSignal.timeout(READ_MS);
  try {
    const answer = await (await client()).query({
      query: statement,
      query_params: { ...bound },
      format: 'JSONEachRow',
      abort_signal: deadline,
      clickhouse_settings: {
        max_execution_time: READ_MS / 1_000,
        output_format_json_quote_64bit_integers: 0,
        use_skip_indexes_if_final: 1,
      },
    });
    return await answer.json<Row>();
  } catch (error) {
    if (deadline.aborted || (error as { code?: unknown }).code === 'ECONNREFUSED') held.pausedUntil = Date.now() + PAUSE_MS;
    throw new ClickHouseError(error);
  }
}

/** Runs a statement that answers with nothing. @throws ClickHouseError */
export async function clickHouseRun(statement: string, bound: Bound = {}): Promise<void> {
  try {
    await (await client()).command({ query: statement, query_params: { ...bound }, abort_signal: AbortSignal.timeout(WRITE_MS) });
  } catch (error) {
    throw new ClickHouseError(error);
  }
}

/** Inserts lines of JSON, as they are, into a table; when this resolves ClickHouse has them. @throws ClickHouseError */
export async function clickHouseInsert(table: string, columns: readonly string[], lines: readonly string[]): Promise<void> {
  try {
    const { stream } = await (await client()).exec({
      query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT JSONEachRow`,
      values: Readable.from([Buffer.from(lines.join('\n'))]),
      abort_signal: AbortSignal.timeout(WRITE_MS),
      clickhouse_settings: { date_time_input_format: 'best_effort', async_insert: 0 },
    });
    await stream.resume().toArray();
  } catch (error) {
    throw new ClickHouseError(error);
  }
}

export async function closeClickHouse(): Promise<void> {
  const { client: open } = held;
  held.client = undefined;
  held.pausedUntil = 0;
  await (await open)?.close();
}

function client(): Promise<ClickHouseClient> {
  held.client ??= connect();
  return held.client;
}

async function connect(): Promise<ClickHouseClient> {
  const { createClient, ClickHouseLogLevel } = await import('@clickhouse/client');
  return createClient({
    url: env.CLICKHOUSE_URL,
    username: env.CLICKHOUSE_USER,
    password: env.CLICKHOUSE_PASSWORD ?? '',
    database: env.CLICKHOUSE_DATABASE,
    request_timeout: WRITE_MS,
    application: 'sallyport',
    // It would log statements and their values to the console.
    log: { level: ClickHouseLogLevel.OFF },
  });
}
