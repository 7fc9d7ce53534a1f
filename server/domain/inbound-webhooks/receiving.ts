import { type Delivery, type SignatureVerdict, type Verified, verifyWebhook } from '#server/crypto/transit/webhook-verify.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { type Db, read } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { mutate, unchanged } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { askGateway } from '#server/platform/gateway-control.ts';
import { log } from '#server/platform/log.ts';
import { network } from '#server/platform/throttle.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { claimDelivery, settleDelivery } from './deliveries.ts';
import { type InboundFormat, REPEATABLE, TIMED } from './formats.shared.ts';
import { type Arrived, type Forwarded, forward } from './forwarding.ts';
import type { InboundRecord } from './order.schema.ts';
import { openSecret } from './sealing.ts';
import type { InboundRow } from './store.ts';

/** What the sender is answered: the target's words, or none. */
export type Answered = { status: number; content_type: string | null; body: Uint8Array };

/**
 * One call to `/in/{label}/{name}` (interface rule 60 §9): verifies the bytes that came, forwards what holds, counts it and leaves a row in the request log.
 * A call that was taken before is answered with 200 and not forwarded again. Receivers that are unknown, foreign or off are one answer, given before the body is read.
 * @throws Refusal not_found, subscription_inactive, payload_too_large, invalid_signature, replay_window_exceeded, rate_limit_exceeded, dependency_unavailable, tenant_sealed
 */
export async function receiveInbound(db: Db, at: { label: string; name: string }, arrived: Arrived, now: Date): Promise<Answered> {
  const began = performance.now();
  const { ctx, row } = await receiverOf(db, at, now);
  const body = await arrived.body();
  const judged = await judge(ctx, row, arrived, body);
  const verified = judged.verdict === 'verified';
  if (!verified) await fewRefusals(row.id, arrived.ip, now);
  const { error, refusal, forwarded }: Outcome =
    judged.verdict === 'verified'
      ? await deliver(ctx, row, judged.delivery, arrived, body)
      : { error: judged.verdict, refusal: REFUSALS[judged.verdict](), forwarded: null };
  const answered: Answered = forwarded?.answer ?? { status: 200, content_type: null, body: NOTHING };
  await Promise.all([
    count(ctx, row, verified, error),
    record({
      ...{ kind: 'record', ...own(ctx), request_id: arrived.request_id, ts: now.toISOString(), path: `/in/${row.name}` },
      ...{ src_ip: arrived.ip, user_agent: arrived.headers.get('user-agent'), verified, error },
      status_code: refusal?.status ?? answered.status,
      latency_ms: Math.round(performance.now() - began),
      ...upstreamOf(forwarded),
      ...{ request_bytes: body.byteLength, response_bytes: refusal ? 0 : answered.body.byteLength },
      header_names: [...arrived.headers.keys()].filter((name) => !name.startsWith('x-sallyport-') && !name.startsWith('x-forwarded-')),
    }),
  ]);
  if (refusal) throw refusal;
  return answered;
}

type Outcome = { error: string | null; refusal: Refusal | null; forwarded: Forwarded | null };

/** Forwards a verified call, unless its target took it before. */
async function deliver(ctx: Ctx, row: InboundRow, delivery: Delivery, arrived: Arrived, body: Uint8Array): Promise<Outcome> {
  const remembers = !(row.allow_duplicates && REPEATABLE.has(row.format as InboundFormat));
  const standing = remembers ? await claimDelivery(ctx, row, delivery, arrived.request_id, new Date()) : 'claimed';
  if (standing === 'duplicate') return { error: 'duplicate_delivery', refusal: null, forwarded: null };
  if (standing === 'busy') return { error: 'delivery_in_progress', refusal: REFUSALS.delivery_in_progress(), forwarded: null };
  let forwarded: Forwarded | null | undefined;
  try {
    forwarded = await forward(ctx, row, arrived, body);
    return { error: forwarded?.error ?? null, refusal: forwarded?.refusal ?? null, forwarded };
  } finally {
    if (remembers) await settle(ctx, row, delivery, arrived.request_id, forwarded === null || forwarded?.error === null);
  }
}

/** What can't be settled is open to the sender's next try once its claim is old: rather twice than never. */
const settle = (...[ctx, row, ...rest]: Parameters<typeof settleDelivery>): Promise<void> =>
  settleDelivery(ctx, row, ...rest).catch((cause: unknown) =>
    log.error({ err: cause, inbound_webhook_id: row.id }, 'cannot settle a call to an inbound webhook'),
  );

const NOTHING = new Uint8Array();
const SERVED: ReadonlySet<string> = new Set(['trialing', 'active', 'dunning']);

async function receiverOf(db: Db, { label, name }: { label: string; name: string }, now: Date): Promise<{ ctx: Ctx; row: InboundRow }> {
  const folded = label.toLowerCase();
  const sandbox = folded.startsWith('sandbox-');
  const slug = sandbox ? folded.slice(8) : folded;
  const tenant = await db.tenants.findFirst({ where: { slug, deleted_at: null }, select: { id: true, subscription_status: true } });
  if (!tenant) throw notFound();
  const ctx = systemContext(db, { tenant_id: tenant.id, sandbox, now, label: 'inbound webhook' });
  const row = await read(ctx, (tx) => tx.inbound_webhooks.findFirst({ where: { ...own(ctx), name, enabled: true } }));
  if (!row) throw notFound();
  if (!SERVED.has(tenant.subscription_status)) throw new Refusal('subscription_inactive', "This workspace's subscription is not active.");
  return { ctx, row };
}

async function judge(ctx: Ctx, row: InboundRow, { headers }: Arrived, body: Uint8Array): Promise<Verified> {
  const format = row.format as InboundFormat;
  const secret = await openSecret(ctx, row).catch(whenSealed);
  const window = TIMED.has(format) ? row.replay_window_seconds : null;
  // The clock of now, not of when the call began: a body may take its time.
  return verifyWebhook({ format, header: row.header_name, secret, window }, { headers, body }, new Date());
}

const REFUSALS: Record<Exclude<SignatureVerdict, 'verified'> | 'delivery_in_progress', () => Refusal> = {
  invalid_signature: () => new Refusal('invalid_signature', 'The signature of this call is missing or wrong.'),
  replay_window_exceeded: () => new Refusal('replay_window_exceeded', 'The signed timestamp of this call is too far from now.'),
  delivery_in_progress: () =>
    new Refusal('dependency_unavailable', 'The same call is being forwarded at the moment. Send it again later.', { retryAfter: 30 }),
};

/** Unverified calls of one network that are looked at and logged, a minute. */
const REFUSED_PER_MINUTE = 60;

/** @throws Refusal rate_limit_exceeded, and then neither counts nor logs */
async function fewRefusals(id: string, ip: string | null, now: Date): Promise<void> {
  const window = Math.floor(now.getTime() / 60_000);
  const n = await windowCounter()(`inbound:${id}:${network(ip)}`, window, 60, REFUSED_PER_MINUTE + 1);
  if (n > REFUSED_PER_MINUTE)
    throw new Refusal('rate_limit_exceeded', 'Too many calls with a wrong signature. Try again in about a minute.', { retryAfter: 60 });
}

const upstreamOf = (forwarded: Forwarded | null) => ({
  upstream_host: forwarded?.host ?? null,
  upstream_status: forwarded?.status ?? null,
  upstream_ms: forwarded?.ms ?? null,
});

/** Leaves a count that fails to the log: the sender's answer is what matters, and a second try would forward twice. */
const count = (ctx: Ctx, { id }: InboundRow, verified: boolean, error: string | null): Promise<unknown> =>
  mutate(ctx, async (tx) => {
    // A call that came before is no failure of the receiver.
    const repeated = verified && error !== null && REPEATED.has(error);
    await tx.inbound_webhooks.updateMany({
      where: { ...own(ctx), id },
      data: {
        ...(verified
          ? { verified_count: { increment: 1 }, last_verified_at: ctx.now }
          : { refused_count: { increment: 1 }, last_refused_at: ctx.now }),
        ...(verified && error !== null && !repeated ? { undelivered_count: { increment: 1 } } : {}),
        ...(repeated ? {} : { last_error: error }),
      },
    });
    return unchanged(undefined);
  }).catch((cause: unknown) => log.error({ err: cause, inbound_webhook_id: id }, 'cannot count a call to an inbound webhook'));

const REPEATED: ReadonlySet<string> = new Set(['duplicate_delivery', 'delivery_in_progress']);

/** The gateway writes the request log, with its figures and its announcement. */
const record = (row: InboundRecord): Promise<unknown> =>
  askGateway(row, '/inbound-calls').catch((cause: unknown) =>
    log.error({ err: cause, request_id: row.request_id }, 'cannot log a call to an inbound webhook'),
  );
