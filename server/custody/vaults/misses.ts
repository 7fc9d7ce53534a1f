import { digest } from '#server/crypto/tokens.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { take } from '#server/platform/throttle.ts';

// Tokens of cards and Social Security numbers can be guessed. Whoever asks for many that don't exist is stopped for a while, also for those that do
// (interface rule 42 §8.3).

const MOST_MISSES = 100;
const WINDOW_SEC = 300;
const BLOCKED_MS = 300_000;
/** How soon a process hears of a block that another has set. */
const REFRESH_MS = 1_000;

type State = { until: ReadonlyMap<string, number>; read: number; reading: Promise<void> | undefined };
const state = processState('vault-misses', (): State => ({ until: new Map(), read: Number.NEGATIVE_INFINITY, reading: undefined }));

const PREFIX = 'vault-blocked:';
const subjectOf = ({ tenant_id, sandbox, actor }: HotCtx) => `${tenant_id} ${sandbox} ${actor.type} ${actor.id}`;
const keyOf = (ctx: HotCtx) => `${PREFIX}${digest(subjectOf(ctx)).toString('base64url')}`;

/** @throws Refusal rate_limit_exceeded while the credential is blocked */
export async function assertNotGuessing(ctx: HotCtx): Promise<void> {
  if (performance.now() - state.read > REFRESH_MS) {
    state.reading ??= refresh().finally(() => {
      state.reading = undefined;
    });
    await state.reading;
  }
  if (state.until.size === 0) return;
  const until = state.until.get(keyOf(ctx)) ?? 0;
  if (until > ctx.now.getTime()) throw blocked(Math.ceil((until - ctx.now.getTime()) / 1_000));
}

/**
 * Counts tokens that were asked for and don't exist. The one too many blocks the credential and mails the Owners. @throws Refusal rate_limit_exceeded
 * then, so that calls made all at once hear no more than calls made in turn
 */
export async function countMisses(ctx: HotCtx, n: number): Promise<void> {
  const rule = { what: 'vault-misses', subject: subjectOf(ctx), limit: MOST_MISSES, window_sec: WINDOW_SEC };
  for (let i = 0; i < n; i++)
    if (!(await take(rule, ctx.now)).allowed) {
      await block(ctx);
      throw blocked(BLOCKED_MS / 1_000);
    }
}

async function block(ctx: HotCtx): Promise<void> {
  const { rowCount } = await sql().query({
    name: 'vault-block',
    text: `insert into rate_counters (key, "window", n, expires_at) values ($1, 0, 1, $2)
      on conflict (key, "window") do update set expires_at = excluded.expires_at where rate_counters.expires_at <= $3`,
    values: [keyOf(ctx), new Date(ctx.now.getTime() + BLOCKED_MS), ctx.now],
  });
  state.read = Number.NEGATIVE_INFINITY;
  if (rowCount !== 1) return;
  const payload = { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, actor: ctx.actor.label, ip: ctx.ip };
  // A queue that isn't there yet holds up no refusal.
  await sql()
    .query('select enqueue_job($1, $2::jsonb, null::timestamptz, null::text, null::integer)', [
      'vault_guessing_alert',
      JSON.stringify(payload),
    ])
    .catch((error: unknown) => log.warn({ err: error }, 'cannot queue the mail about guessed tokens'));
}

async function refresh(): Promise<void> {
  const asked = performance.now();
  const { rows } = await sql().query<{ key: string; expires_at: Date }>({
    name: 'vault-blocks',
    text: `select key, expires_at from rate_counters where key >= '${PREFIX}' and key < 'vault-blocked;' and expires_at > now()`,
  });
  state.until = new Map(rows.map((row) => [row.key, row.expires_at.getTime()]));
  state.read = asked;
}

const blocked = (seconds: number) =>
  new Refusal(
    'rate_limit_exceeded',
    "This credential asked for too many tokens that don't exist. It can detokenize again within 5 minutes.",
    {
      retryAfter: Math.max(1, seconds),
    },
  );
