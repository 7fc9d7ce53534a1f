import { idempotencyKey, openAnswer, requestFingerprint, sealAnswer, storedForm } from '#server/crypto/idempotency.ts';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { isSealedTwice, type Kind } from '#server/kernel/operation.ts';
import { keyring } from '#server/platform/keys.ts';
import {
  answerPlace,
  type Claim,
  completeClaim,
  extendClaim,
  findCall,
  holdClaim,
  insertClaim,
  releaseClaim,
  type StoredCall,
  takeOver,
  versionsBefore,
} from './idempotency-claims.ts';
import { failure, type Wire } from './respond.ts';

/**
 * Idempotent execution (interface rule 01 §7). A claim row goes in first, in a transaction of its own; the effect and its stored answer then commit in
 * ONE transaction, so a process killed at any point leaves either nothing or both. The claim of a process that died is taken over at the next retry, and
 * that of one that hangs when its lease ends: by compare-and-set on the lease, which the completion checks again.
 */
export type IdempotentCall = {
  ctx: Ctx;
  key: string;
  method: string;
  path: string;
  query: string;
  body: Uint8Array;
  kind: Kind;
  version: string;
  /** The operation's own mark: `run` gets no transaction, and its effect commits before the stored answer does. */
  outside?: true | undefined;
};

/** 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** The key of a mutating request, or null. @throws Refusal invalid_idempotency_key */
export function idempotencyKeyOf(headers: Headers): string | null {
  const own = headers.get('x-idempotency-key');
  const standard = headers.get('idempotency-key');
  if (own !== null && standard !== null && own !== standard)
    throw new Refusal('invalid_idempotency_key', 'X-Idempotency-Key and Idempotency-Key have different values. Send only one.');
  const key = own ?? standard;
  if (key === null) return null;
  if (!IDEMPOTENCY_KEY.test(key))
    throw new Refusal('invalid_idempotency_key', 'The idempotency key must be 1 to 255 visible ASCII characters, without spaces.');
  return key;
}

/** Another process rotated the tenant key while this one claimed under the old version. */
class KeyRotated extends Error {
  override readonly name = 'KeyRotated';
}
const MOST_ROTATIONS = 3;

/**
 * Runs the call, or answers what its key was answered before. @throws Refusal idempotency_key_reuse, request_in_progress while the first is under way,
 * conflict for a reveal that was performed, whatever `run` throws
 */
export async function runIdempotently(call: IdempotentCall, run: (ctx: Ctx) => Promise<Wire>): Promise<Wire> {
  const { ctx } = call;
  const fingerprint = requestFingerprint(call.method, call.path, call.query, call.body);
  for (let tried = 1; ; tried++) {
    const claimed = await claimOrReplay(call, fingerprint);
    if ('replay' in claimed) return claimed.replay;
    const { fresh } = claimed;
    let { claim } = claimed;
    try {
      if (call.outside) {
        const { held, active } = await extendClaim(ctx, claim);
        if (!held) throw busy();
        claim = held;
        if (fresh && active !== undefined && active !== claim.tmk_version) throw new KeyRotated();
        return await runOutside(call, claim, run);
      }
      return await inTransaction(ctx, async (tx) => {
        const active = await holdClaim(tx, ctx, claim);
        // A call under the new version would not find this claim, and the other way round.
        if (fresh && active !== undefined && active !== claim.tmk_version) throw new KeyRotated();
        const wire = await run({ ...ctx, tx });
        await complete(tx, call, claim, call.kind === 'reveal' ? NOTHING_STORED : wire, ctx.request_id);
        return wire;
      });
    } catch (error) {
      if (error instanceof KeyRotated && tried < MOST_ROTATIONS) {
        await releaseClaim(claim);
        keyring().evict(ctx.tenant_id);
        continue;
      }
      const refusal = error instanceof KeyRotated ? busy() : asRefusal(error);
      await settleRefusal(call, claim, refusal).catch(() => {});
      throw error instanceof KeyRotated ? refusal : error;
    }
  }
}

/** Holds nothing open while the verb is out, which may take a minute; the claim's longer lease keeps the key taken. */
async function runOutside(call: IdempotentCall, claim: Claim, run: (ctx: Ctx) => Promise<Wire>): Promise<Wire> {
  const { ctx } = call;
  const wire = await run(ctx);
  await inTransaction(ctx, (tx) => complete(tx, call, claim, call.kind === 'reveal' ? NOTHING_STORED : wire, ctx.request_id));
  return wire;
}

type Claimed = { claim: Claim; fresh: boolean } | { replay: Wire };

async function claimOrReplay(call: IdempotentCall, fingerprintHex: string): Promise<Claimed> {
  const { ctx } = call;
  const tmk = await keyring().activeTmk(ctx.tenant_id).catch(sealed);
  const k = idempotencyKey(tmk.key);
  // After rotations the row may lie under any version that was active in its 24 hours.
  const older = await findOlder(call, tmk.version);
  if (older) {
    const { key } = await keyring().tmk(ctx.tenant_id, older.tmk_version);
    return judge(call, older, storedForm(idempotencyKey(key), fingerprintHex));
  }
  const keyHmac = storedForm(k, call.key);
  const fingerprint = storedForm(k, fingerprintHex);
  const claim = await insertClaim(ctx, keyHmac, fingerprint, tmk.version);
  if (claim) return { claim, fresh: true };
  const row = await findCall(ctx, [keyHmac]);
  if (!row) throw busy();
  return judge(call, row, fingerprint);
}

async function findOlder(call: IdempotentCall, active: number): Promise<StoredCall | undefined> {
  const { ctx } = call;
  const versions = await versionsBefore(ctx, active);
  if (versions.length === 0) return undefined;
  const keys = await Promise.all(
    versions.map((version) =>
      keyring()
        .tmk(ctx.tenant_id, version)
        .catch(() => null),
    ),
  );
  return findCall(
    ctx,
    keys.flatMap((tmk) => (tmk ? [storedForm(idempotencyKey(tmk.key), call.key)] : [])),
  );
}

/** The state table of interface rule 00, States and transitions. */
async function judge(call: IdempotentCall, row: StoredCall, fingerprint: Uint8Array): Promise<Claimed> {
  if (!Buffer.from(row.fingerprint).equals(Buffer.from(fingerprint)))
    throw new Refusal('idempotency_key_reuse', 'This idempotency key was already used with a different request. Use a new key.');
  if (row.state === 'completed' && call.kind === 'reveal') throw alreadyRevealed();
  if (row.state === 'completed') return { replay: await replay(call, row) };
  const claim = await takeOver(row);
  if (claim) return { claim, fresh: false };
  throw busy();
}

/** A second later a claim whose process died can be taken over. */
const busy = () =>
  new Refusal('request_in_progress', 'A request with this idempotency key is still in progress. Try again shortly.', { retryAfter: 1 });

async function replay(call: IdempotentCall, row: StoredCall): Promise<Wire> {
  const opened = await keyring()
    .openValue(answerPlace(call.ctx, row.id), { value_ct: row.body_ct, cek_wrapped: row.cek_wrapped, tmk_version: row.body_tmk })
    .catch(sealed);
  const k = idempotencyKey((await keyring().tmk(call.ctx.tenant_id, row.tmk_version)).key);
  const body = isSealedTwice(call.kind) && row.status < 300 ? openAnswer(k, call.key, opened) : opened;
  return {
    status: row.status,
    body: body.toString('utf8'),
    headers: {
      'content-type': row.content_type,
      'x-idempotent-replay': 'true',
      'x-request-id': row.request_id,
      'service-version': row.service_version,
    },
  };
}

/** Inside the transaction of the effect. The lease is checked once more: who lost it must not write. */
async function complete(tx: Tx, call: IdempotentCall, claim: Claim, wire: Wire, requestId: string): Promise<void> {
  const { ctx } = call;
  const k = idempotencyKey((await keyring().tmk(ctx.tenant_id, claim.tmk_version)).key);
  const bytes = Buffer.from(wire.body, 'utf8');
  const inner = isSealedTwice(call.kind) && wire.status < 300 ? sealAnswer(k, call.key, bytes) : bytes;
  const outer = await keyring().sealValue(answerPlace(ctx, claim.id), inner).catch(sealed);
  const stored = await completeClaim(tx, ctx, claim, {
    status: wire.status,
    content_type: wire.headers['content-type'] ?? null,
    body_ct: outer.value_ct,
    cek_wrapped: outer.cek_wrapped,
    body_tmk: outer.tmk_version,
    request_id: requestId,
    service_version: call.version,
  });
  if (!stored) throw busy();
}

/** Stored in place of a reveal's answer, which would be plaintext at rest (interface rule 32 §5.5). */
const NOTHING_STORED: Wire = { status: 204, body: '', headers: {} };
const alreadyRevealed = () => new Refusal('conflict', 'This call was already performed. Its result is shown only once.');

/**
 * Outcomes of validation and the verb are kept; everything a retry may cure releases the claim (interface rule 01 §7.8), as every refusal of a reveal
 * does: confirming who one is cures most of them.
 */
async function settleRefusal(call: IdempotentCall, claim: Claim, refusal: Refusal): Promise<void> {
  // What refuses by right of the caller came before the claim: a 403 in here is the verb's own.
  const kept =
    call.kind !== 'reveal' &&
    refusal.status >= 400 &&
    refusal.status < 500 &&
    refusal.status !== 429 &&
    refusal.type !== 'request_in_progress';
  if (!kept) return releaseClaim(claim);
  await inTransaction({ ...call.ctx, tx: undefined } as Ctx, (tx) =>
    complete(tx, call, claim, failure(refusal, call.ctx.request_id), call.ctx.request_id),
  );
}

function sealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable || error instanceof DecryptFailed)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", {
      retryAfter: 30,
      cause: error,
    });
  throw error;
}
