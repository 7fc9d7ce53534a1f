import { canonicalJson } from '#server/crypto/canonical-json.ts';
import { digest } from '#server/crypto/tokens.ts';
import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { processState } from '#server/kernel/process-state.ts';
import { keyring } from '#server/platform/keys.ts';
import { type Listener, listen } from '#server/platform/notify.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';

// A tool call that waits for a person (interface rule 52 §10). The row decides, in one statement, so an approval passes one call in whichever process it arrives.

type Space = Pick<HotCtx, 'tenant_id' | 'sandbox'>;

export type HeldCall = {
  serverId: string;
  tool: string;
  token: { id: string; label: string };
  /** Whom the call is for. */
  user: string | null;
  /** As they were sent: they decide what the approval is for. */
  args: unknown;
  /** As a person may see them: redacted. */
  shown: unknown;
  requestId: string;
};

export type Verdict = { outcome: 'approved' | 'denied' | 'waiting' | 'too_large'; approvalId: string | null };

/** How long the call itself waits; a decision that comes later lets the same call pass when it is repeated. */
const WAIT_MS = 120_000;
const DECIDABLE_MS = 10 * 60_000;
const MOST_PENDING = 200;
/** Of the arguments as they are shown, which a redaction may have made longer than the 256 KiB that a call may bring. */
const MOST_SHOWN_BYTES = 1024 * 1024;

/**
 * Passes a call that a person has approved, once; else parks it until somebody decides. `too_large` when its arguments couldn't be shown whole: nobody approves what
 * they can't see. `waiting` after two minutes, when the caller hangs up, or at once when too
 * many calls of the workspace wait already.
 */
export async function approval(
  space: Space,
  call: HeldCall,
  { waitMs = WAIT_MS, signal }: { waitMs?: number; signal?: AbortSignal } = {},
): Promise<Verdict> {
  const key = digest(canonicalJson([call.serverId, call.tool, call.token.id, call.user, call.args], 'exact'));
  const passed = await take(space, { serverId: call.serverId, key });
  if (passed) return { outcome: 'approved', approvalId: passed };
  const shown = Buffer.from(JSON.stringify(call.shown));
  if (shown.length > MOST_SHOWN_BYTES) return { outcome: 'too_large', approvalId: null };
  const id = await ask(space, call, key, shown);
  if (id === null) return { outcome: 'waiting', approvalId: null };
  const status = await decision(space, id, waitMs, signal);
  if (status === 'denied') return { outcome: 'denied', approvalId: id };
  // Of two calls that waited for one approval, one passes.
  const mine = status === 'approved' && (await take(space, { id }));
  return { outcome: mine ? 'approved' : 'waiting', approvalId: id };
}

/** Uses up an approval that is still good. @returns its ID */
const take = (space: Space, by: { id: string } | { serverId: string; key: Buffer }): Promise<string | null> =>
  inOwnTransaction(space, async (client) => {
    const which = 'id' in by ? ['id = $1', [by.id]] : ['mcp_server_id = $1 and call_digest = $2', [by.serverId, by.key]];
    const { rows } = await client.query<{ id: string }>(
      `update mcp_approvals set used_at = now() where id = (select id from mcp_approvals
         where ${which[0]} and status = 'approved' and used_at is null and passes_until > now() order by created_at limit 1 for update skip locked)
       returning id`,
      which[1] as unknown[],
    );
    return rows[0]?.id ?? null;
  });

/** The approval that waits for this call already, or a new one. Null when there are too many. */
async function ask(space: Space, call: HeldCall, key: Buffer, shown: Buffer): Promise<string | null> {
  const id = newId();
  const place = { tenant_id: space.tenant_id, space: spaceOf(space.sandbox), purpose: 'ai_payload', row_id: id } as const;
  const sealed = await keyring().sealValue(place, shown);
  return inOwnTransaction(space, async (client) => {
    await client.query(
      `update mcp_approvals set status = 'expired' where mcp_server_id = $1 and call_digest = $2 and status = 'pending' and expires_at <= now()`,
      [call.serverId, key],
    );
    const { rows } = await client.query<{ id: string }>(
      `insert into mcp_approvals (id, tenant_id, sandbox, mcp_server_id, tool_name, token_id, token_label, user_id, call_digest, value_ct, cek_wrapped, tmk_version,
         request_id, expires_at)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, now() + interval '${DECIDABLE_MS} milliseconds'
       where (select count(*) from mcp_approvals where tenant_id = $2 and sandbox = $3 and status = 'pending' and expires_at > now()) < ${MOST_PENDING}
       on conflict (mcp_server_id, call_digest) where status = 'pending' do nothing returning id`,
      [
        id,
        space.tenant_id,
        space.sandbox,
        call.serverId,
        call.tool,
        call.token.id,
        call.token.label,
        call.user,
        key,
        sealed.value_ct,
        sealed.cek_wrapped,
        sealed.tmk_version,
        call.requestId,
      ],
    );
    if (rows[0]) return rows[0].id;
    const waiting = await client.query<{ id: string }>(
      `select id from mcp_approvals where mcp_server_id = $1 and call_digest = $2 and status = 'pending'`,
      [call.serverId, key],
    );
    return waiting.rows[0]?.id ?? null;
  });
}

/** What the row says when somebody has decided, or at the end of the wait. */
async function decision(space: Space, id: string, waitMs: number, signal: AbortSignal | undefined): Promise<string> {
  const woken = wait(id);
  const end = performance.now() + waitMs;
  try {
    for (;;) {
      const heard = woken.next();
      const [row] = await ownRows<{ status: string }>(space, STATUS, id);
      const left = end - performance.now();
      if (!row || row.status !== 'pending' || left <= 0 || signal?.aborted) return row?.status ?? 'expired';
      // Also without a word from the database: a lost connection must not hold a call for two minutes.
      await Promise.race([heard, timer(Math.min(left, RECHECK_MS)), aborted(signal)]);
    }
  } finally {
    woken.stop();
  }
}

const RECHECK_MS = 5_000;
const timer = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
const aborted = (signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));

type Waiters = { listener: Listener | undefined; calls: Map<string, Set<() => void>> };
const waiters = processState('mcp-approvals', (): Waiters => ({ listener: undefined, calls: new Map() }));

/** Listens while any call waits. `next` resolves at the first announcement after it was asked. */
function wait(id: string): { next: () => Promise<void>; stop: () => void } {
  let wake = () => {};
  const mine = () => wake();
  const calls = waiters.calls.get(id) ?? new Set();
  waiters.calls.set(id, calls.add(mine));
  waiters.listener ??= listen({
    channels: ['mcp_decided'],
    onMessage: (_, decided) => wakeAll(waiters.calls.get(decided)),
    onConnect: () => [...waiters.calls.values()].forEach(wakeAll),
  });
  return {
    next: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
    stop: () => {
      calls.delete(mine);
      if (calls.size === 0) waiters.calls.delete(id);
      if (waiters.calls.size > 0) return;
      void waiters.listener?.close();
      waiters.listener = undefined;
    },
  };
}

function wakeAll(calls: Iterable<() => void> = []): void {
  for (const wake of calls) wake();
}

const STATUS = ownQuery('custody-mcp-approval', 'select status from mcp_approvals where tenant_id = $1 and sandbox = $2 and id = $3::uuid');
