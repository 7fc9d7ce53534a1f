import { idempotencyKey, openAnswer, requestFingerprint, sealAnswer, storedForm } from '#server/crypto/idempotency.ts';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import type { Wire } from './wire.ts';

/**
 * Idempotent execution (interface rule 01 §7). A claim row goes in first, in a transaction of its own; the effect and its stored answer then commit in
 * ONE transaction, so a process killed at any point leaves either nothing or both. A claim whose lease ran out is taken over by compare-and-set.
 */
export type IdempotentCall = {
  ctx: Ctx;
  key: string;
  method: string;
  path: string;
  query: string;
  body: Uint8Array;
  shown_once: boolean;
  version: string;
};

const LEASE = '120 seconds';
const KEY = /^[\x21-\x7e]{1,255}$/;

/** The key of a mutating request, or null. @throws Refusal invalid_idempotency_key */
export function idempotencyKeyOf(headers: Headers): string | null {
  const own = headers.get('x-idempotency-key');
  const standard = headers.get('idempotency-key');
  if (own !== null && standard !== null && own !== standard)
    throw new Refusal('invalid_idempotency_key', 'X-Idempotency-Key and Idempotency-Key have different values. Send only one.');
  const key = own ?? standard;
  if (key === null) return null;
  if (!KEY.test(key))
    throw new Refusal('invalid_idempotency_key', 'The idempotency key must be 1 to 255 visible ASCII characters, without spaces.');
  return key;
}

type Claim = { id: string; lease_until: Date; tmk_version: number };
type Stored = Claim & {
  fingerprint: Uint8Array;
  state: string;
  status: number;
  content_type: string;
  body_ct: Uint8Array;
  cek_wrapped: Uint8Array;
  body_tmk: number;
  request_id: string;
  service_version: string;
};

/** Runs the call, or answers what its key was answered before. @throws Refusal idempotency_key_reuse, request_in_progress while the first is under way, whatever `run` throws */
export async function once(call: IdempotentCall, run: (ctx: Ctx) => Promise<Wire>): Promise<Wire> {
  const { ctx } = call;
  const fingerprint = requestFingerprint(call.method, call.path, call.query, call.body);
  const claim = await claimOrReplay(call, fingerprint);
  if ('replay' in claim) return claim.replay;
  try {
    return await inTransaction(ctx, async (tx) => {
      const wire = await run({ ...ctx, tx });
      await complete(tx, call, claim.claim, wire, ctx.request_id);
      return wire;
    });
  } catch (error) {
    const refusal = asRefusal(error);
    await settleRefusal(call, claim.claim, refusal).catch(() => {});
    throw error;
  }
}

async function claimOrReplay(call: IdempotentCall, fingerprintHex: string): Promise<{ claim: Claim } | { replay: Wire }> {
  const { ctx } = call;
  const tmk = await keyring().activeTmk(ctx.tenant_id).catch(sealed);
  const k = idempotencyKey(tmk.key);
  const keyHmac = storedForm(k, call.key);
  const fingerprint = storedForm(k, fingerprintHex);
  // After a key rotation the row may lie under the previous version; its 24 hours outlive the rotation.
  const older = await find(
    call,
    async (version) => storedForm(idempotencyKey((await keyring().tmk(ctx.tenant_id, version)).key), call.key),
    tmk.version,
  );
  if (older)
    return judge(call, older, storedForm(idempotencyKey((await keyring().tmk(ctx.tenant_id, older.tmk_version)).key), fingerprintHex));

  const inserted = await sql().query<Claim>({
    name: 'idem-claim',
    text: `insert into idempotency_keys (id, tenant_id, sandbox, principal, key_hmac, fingerprint, tmk_version, state, lease_until)
      values ($1, $2, $3, $4, $5, $6, $7, 'in_progress', now() + interval '${LEASE}')
      on conflict (tenant_id, sandbox, principal, key_hmac) do update set id = excluded.id, fingerprint = excluded.fingerprint, tmk_version = excluded.tmk_version, state = 'in_progress', lease_until = excluded.lease_until,
        status = null, body_ct = null, cek_wrapped = null, request_id = null, created_at = now(), completed_at = null
        where idempotency_keys.completed_at < now() - interval '24 hours'
      returning id, lease_until, tmk_version`,
    values: [newId(), ctx.tenant_id, ctx.sandbox, principal(ctx), keyHmac, fingerprint, tmk.version],
  });
  const claim = inserted.rows[0];
  if (claim) return { claim };
  const row = await select(call, keyHmac);
  if (!row) throw busy();
  return judge(call, row, fingerprint);
}

/** The state table of interface rule 00, States and transitions. */
async function judge(call: IdempotentCall, row: Stored, fingerprint: Uint8Array): Promise<{ claim: Claim } | { replay: Wire }> {
  if (!Buffer.from(row.fingerprint).equals(Buffer.from(fingerprint)))
    throw new Refusal('idempotency_key_reuse', 'This idempotency key was already used with a different request. Use a new key.');
  if (row.state === 'completed') return { replay: await replay(call, row) };
  const taken = await sql().query<Claim>({
    name: 'idem-takeover',
    text: `update idempotency_keys set lease_until = now() + interval '${LEASE}' where id = $1 and state = 'in_progress' and lease_until = $2 and lease_until < now() returning id, lease_until, tmk_version`,
    values: [row.id, row.lease_until],
  });
  if (taken.rows[0]) return { claim: taken.rows[0] };
  throw busy();
}

const busy = () => new Refusal('request_in_progress', 'A request with this idempotency key is still in progress. Try again shortly.');

async function replay(call: IdempotentCall, row: Stored): Promise<Wire> {
  const opened = await keyring()
    .openValue(place(call.ctx, row.id), { value_ct: row.body_ct, cek_wrapped: row.cek_wrapped, tmk_version: row.body_tmk })
    .catch(sealed);
  const k = idempotencyKey((await keyring().tmk(call.ctx.tenant_id, row.tmk_version)).key);
  const body = call.shown_once && row.status < 300 ? openAnswer(k, call.key, opened) : opened;
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
  const inner = call.shown_once && wire.status < 300 ? sealAnswer(k, call.key, bytes) : bytes;
  const outer = await keyring().sealValue(place(ctx, claim.id), inner).catch(sealed);
  const updated = await tx.idempotency_keys.updateMany({
    where: { id: claim.id, ...own(ctx), state: 'in_progress', lease_until: claim.lease_until },
    data: {
      state: 'completed',
      status: wire.status,
      content_type: wire.headers['content-type'] ?? null,
      body_ct: outer.value_ct,
      cek_wrapped: outer.cek_wrapped,
      body_tmk: outer.tmk_version,
      request_id: requestId,
      service_version: call.version,
      completed_at: new Date(),
    },
  });
  if (updated.count !== 1) throw busy();
}

/** Outcomes of validation and the verb are kept; everything a retry may cure releases the claim (interface rule 01 §7.8). */
async function settleRefusal(call: IdempotentCall, claim: Claim, refusal: Refusal): Promise<void> {
  // What refuses by right of the caller came before the claim: a 403 in here is the verb's own.
  const kept = refusal.status >= 400 && refusal.status < 500 && refusal.status !== 429 && refusal.type !== 'request_in_progress';
  if (!kept) {
    await sql().query('delete from idempotency_keys where id = $1 and state = $2 and lease_until = $3', [
      claim.id,
      'in_progress',
      claim.lease_until,
    ]);
    return;
  }
  const { failure } = await import('./wire.ts');
  await inTransaction({ ...call.ctx, tx: undefined } as Ctx, (tx) =>
    complete(tx, call, claim, failure(refusal, call.ctx.request_id), call.ctx.request_id),
  );
}

async function find(call: IdempotentCall, hmacOf: (version: number) => Promise<Buffer>, active: number): Promise<Stored | undefined> {
  if (active <= 1) return undefined;
  const hmac = await hmacOf(active - 1).catch(() => null);
  const row = hmac && (await select(call, hmac));
  return row && row.tmk_version < active ? row : undefined;
}

async function select(call: IdempotentCall, keyHmac: Uint8Array): Promise<Stored | undefined> {
  const { rows } = await sql().query<Stored>({
    name: 'idem-select',
    text: `select id, lease_until, tmk_version, fingerprint, state, status, content_type, body_ct, cek_wrapped, body_tmk, request_id, service_version from idempotency_keys
      where tenant_id = $1 and sandbox = $2 and principal = $3 and key_hmac = $4 and (completed_at is null or completed_at >= now() - interval '24 hours')`,
    values: [call.ctx.tenant_id, call.ctx.sandbox, principal(call.ctx), keyHmac],
  });
  return rows[0];
}

/** The credential, not the token: an SDK mints a new token between retries. */
const principal = (ctx: Ctx) => `${ctx.actor.type}:${ctx.actor.id}`;

const place = (ctx: Ctx, rowId: string) => ({
  tenant_id: ctx.tenant_id,
  space: spaceOf(ctx.sandbox),
  purpose: 'idempotency_response' as const,
  row_id: rowId,
});

function sealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable || error instanceof DecryptFailed)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", {
      retryAfter: 30,
      cause: error,
    });
  throw error;
}
