import { processState } from '#server/kernel/process-state.ts';
import { ownSql } from '#server/platform/sql.ts';
import { type AccessRow, insertAccess } from './issue.ts';

type Waiting = { row: AccessRow; resolve: () => void; reject: (error: unknown) => void };
type Lane = { running: number; due: boolean; waiting: Waiting[] };

/** Statements of one workspace and space at the same time: what comes meanwhile waits, and becomes one statement together. */
const AT_ONCE = 1;
const MOST_ROWS = 200;

/**
 * Stores an access token; resolves when it is durable. Tokens of one workspace and space that are issued together share a statement, which costs the
 * database and this process a fraction of one each. It runs under row-level security.
 */
export function storeAccess(row: AccessRow): Promise<void> {
  const key = `${row.tenant_id}:${row.sandbox}`;
  const lane = lanes.get(key) ?? { running: 0, due: false, waiting: [] };
  lanes.set(key, lane);
  return new Promise((resolve, reject) => {
    lane.waiting.push({ row, resolve, reject });
    expectFlush(key, lane);
  });
}

/** After the requests that have arrived were read. */
function expectFlush(key: string, lane: Lane): void {
  if (lane.due || lane.running >= AT_ONCE) return;
  lane.due = true;
  setImmediate(() => {
    lane.due = false;
    void flush(key, lane);
  });
}

async function flush(key: string, lane: Lane): Promise<void> {
  const batch = lane.waiting.splice(0, MOST_ROWS);
  const [first] = batch;
  if (!first) return;
  lane.running++;
  try {
    const { tenant_id, sandbox } = first.row;
    await ownSql().query({ name: 'oauth-issue', text: ISSUE, values: [tenant_id, sandbox, JSON.stringify(batch.map(({ row }) => row))] });
    for (const { resolve } of batch) resolve();
  } catch (error) {
    for (const { reject } of batch) reject(error);
  } finally {
    lane.running--;
    if (lane.waiting.length > 0) expectFlush(key, lane);
    else if (lane.running === 0) lanes.delete(key);
  }
}

const lanes = processState('oauth-access-lanes', () => new Map<string, Lane>());

/** The rows come from the context that they are checked against: `own` sets it for the statement, before a row is read. */
const ISSUE = `with own as materialized (
    select set_config('app.tenant_id', $1::uuid::text, true) as tenant, set_config('app.sandbox', $2::boolean::text, true) as sandbox)
  ${insertAccess('own cross join json_to_recordset($3::json)', 'where own.tenant is not null and own.sandbox is not null')}`;
