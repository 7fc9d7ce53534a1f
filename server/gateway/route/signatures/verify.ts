import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { anyEquals, ed25519Key, ed25519Verifies, hmacOf } from '#server/crypto/request-signatures/verify.ts';
import { useNonce } from '#server/domain/clients/signature-nonces.ts';
import { log } from '#server/platform/log.ts';
import { acceptBody } from '../../core/listener.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import { readBody } from '../../core/request-body.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { SignatureRule, Signer } from '../../snapshot/model.ts';
import { keepRequest } from '../fields/request.ts';
import type { RouteCall } from '../route-call.ts';
import { readConcat, readV1 } from './headers.ts';
import { readHttpMessage } from './http-message.ts';
import { invalid, type Presented, type Read } from './presented.ts';

const READ: Record<SignatureRule['scheme'], Read> = { v1: readV1, concat: readConcat, rfc9421: readHttpMessage };

export const SIGNED_BODY_LIMIT = 10 * 1024 * 1024;
/** So many credentials are tried when the call names none. */
const MAX_CANDIDATES = 20;
/** Nonces outlive the last moment at which their calls would be accepted. */
const NONCE_GRACE_SEC = 60;
const STORE_TIMEOUT_MS = 3_000;
/** Bodies of which a MAC is made for each candidate: others get their turn in between. */
const LONG = 256 * 1024;
const EMPTY = Buffer.alloc(0);

/** Says whether so many bytes of the body may be held. */
type Hold = (bytes: number) => boolean;

/**
 * Judges the signature of a call in the order of interface rule 10 §9.4. A good one identifies the client, before any certificate or address. What was read
 * of the body stays with the call.
 */
export async function judgeSignature(call: RouteCall, runtime: Runtime, rule: SignatureRule, hold: Hold): Promise<Refused | undefined> {
  call.state.signatureValid = false;
  const presented = READ[rule.scheme](call, rule);
  if ('code' in presented) return presented;
  const now = Math.floor(call.receivedAt / 1000);
  if (Math.abs(now - presented.timestamp) > rule.toleranceSec || (presented.expires !== null && now > presented.expires)) return EXPIRED;
  const refusal = await takeSignedBody(call, hold);
  if (refusal) return refusal;
  const messages = presented.messages(call.body ?? EMPTY);
  const signer = messages === null ? undefined : await signerOf(call, runtime, presented, messages);
  if (!signer) return invalid();
  if ('code' in signer) return signer;
  const replayed = await isReplayed(call, signer, presented, rule);
  if (replayed) return replayed;
  call.client = signer;
  call.state.signatureValid = true;
  return undefined;
}

const EXPIRED = refused('signature_expired', "The signature's timestamp is too far from the current time. Check the clock of the caller.");

/** Reads the body whole, so that it can be hashed; it goes on to the upstream as it is. */
export async function takeSignedBody(call: RouteCall, hold: Hold): Promise<Refused | undefined> {
  if (call.contentLength === 0 || call.state.bodyRead) return undefined;
  if (call.contentLength > SIGNED_BODY_LIMIT) return TOO_LARGE;
  acceptBody(call.req, call.res);
  const { state, body } = await readBody(call.req, SIGNED_BODY_LIMIT, hold);
  if (state === 'crowded') return CROWDED;
  if (state === 'longer') return TOO_LARGE;
  if (body === null) return refused('invalid_request', "The request body wasn't fully received.");
  call.body = body;
  call.requestBytes = body.length;
  call.state.bodyRead = true;
  return keepRequest(call, body);
}

export const CROWDED = refused('concurrency_limit_exceeded', 'Too many request bodies are held in memory. Try again shortly.');
const TOO_LARGE = refused('payload_too_large', 'The body of a signed call must not exceed 10 MiB.');

/** The credential that one of the messages was signed with; undefined when there is none, and the same for every reason. */
async function signerOf(
  call: RouteCall,
  runtime: Runtime,
  presented: Presented,
  messages: readonly (readonly Uint8Array[])[],
): Promise<Signer | Refused | undefined> {
  let fault: Refused | undefined;
  for (const signer of candidates(call, presented.keyId)) {
    const signed = await isSigner(call, runtime, signer, presented, messages);
    if (signed === true) return signer;
    if (signed !== false) fault = signed;
    if ((call.body?.length ?? 0) > LONG) await new Promise((resolve) => setImmediate(resolve));
  }
  return fault;
}

/** Usable credentials, oldest first; where clients are required, those of clients that are assigned. */
function candidates(call: RouteCall, keyId: string | null): readonly Signer[] {
  const { snapshot, receivedAt } = call;
  const { environment } = call.state;
  const usable = (signer: Signer) =>
    signer.endsAt > receivedAt && (!environment?.requiresClients || environment.assigned.has(signer.client.id));
  if (keyId === null) return snapshot.signers.filter(usable).slice(0, MAX_CANDIDATES);
  const named = snapshot.signerById(keyId);
  return named && usable(named) ? [named] : [];
}

async function isSigner(
  call: RouteCall,
  runtime: Runtime,
  signer: Signer,
  { hmac, ed25519 }: Presented,
  messages: readonly (readonly Uint8Array[])[],
): Promise<boolean | Refused> {
  if (signer.key.kind === 'ed25519') {
    if (ed25519.length === 0) return false;
    const key = ed25519Key(signer.key.publicKey);
    return messages.some((parts) => ed25519Verifies(key, parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts), ed25519));
  }
  if (hmac.length === 0) return false;
  const value = signer.key.kind === 'hmac' ? signer.key.value : storedSecret(call, signer.key.secretId);
  if (!value) return false;
  const { tenant, space } = call.snapshot;
  try {
    return await runtime.secrets.open(tenant.id, space, value, (key) => messages.some((parts) => anyEquals(hmacOf(key, parts), hmac)));
  } catch (error) {
    if (error instanceof TenantKeyUnavailable)
      return refused('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { cause: error });
    log.error(
      { err: error, request_id: call.requestId, credential_id: signer.credentialId, alert: true },
      'failed to decrypt a signing key',
    );
    return refused('secret_decrypt_failed', 'A signing key could not be decrypted.', { cause: error });
  }
}

/** The value of a secret in the environment of the call, unless it has expired for good. */
function storedSecret({ snapshot, state, receivedAt }: RouteCall, secretId: string) {
  const secret = snapshot.secretById(secretId);
  if (secret?.type !== 'string') return undefined;
  const value = secret.values.get(state.environmentName);
  const expiresAt = value?.expiresAt ?? secret.expiresAt;
  return secret.strict && expiresAt !== null && expiresAt <= receivedAt ? undefined : value;
}

/** Only after the signature was found good, so that strangers can't use up nonces. Without the store nothing is accepted. */
async function isReplayed(
  call: RouteCall,
  signer: Signer,
  { nonce, timestamp }: Presented,
  rule: SignatureRule,
): Promise<Refused | undefined> {
  if (nonce === null) return undefined;
  const expiresAt = new Date((timestamp + rule.toleranceSec + NONCE_GRACE_SEC) * 1000);
  try {
    const fresh = await inTime(useNonce(signer.credentialId, nonce, expiresAt, new Date(call.receivedAt)));
    return fresh ? undefined : refused('signature_replayed', 'A call with this nonce was made before. Sign every call with a new nonce.');
  } catch (error) {
    log.debug({ err: error, request_id: call.requestId }, 'a nonce could not be checked');
    return refused('dependency_unavailable', "The gateway can't check the nonce. Try again shortly.");
  }
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the store of nonces did not answer in time')), STORE_TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
