import { concatHead, type SignedCall, v1Message } from '#server/crypto/request-signatures/canonical.ts';
import type { RouteCall } from '../route-call.ts';
import { invalid, keyIdOf, lineOf, missing, type Presented, type Read, referenceOf, UNIX_SECONDS } from './presented.ts';

// Signatures in headers of our own: the schemes v1 and concat (interface rule 10 §9.2 to 9.5).

const NONCE = /^[A-Za-z0-9_-]{16,128}$/;
const HEX = /^[0-9a-f]{64}$/;
/** 64 bytes: the last character holds two bits. */
const BASE64URL = /^[A-Za-z0-9_-]{85}[AQgw]$/;
const MAX_SIGNATURES = 5;

export const readV1: Read = (call, rule) => {
  const signature = lineOf(call, 'x-svc-signature');
  const timestamp = lineOf(call, 'x-svc-timestamp');
  const nonce = lineOf(call, 'x-svc-nonce');
  if (signature === null || timestamp === null) return missing('X-Svc-Signature and X-Svc-Timestamp');
  if (nonce === null && rule.requiresNonce) return missing('X-Svc-Nonce as well');
  const keyId = keyIdOf(call);
  const found = signature === undefined ? undefined : signaturesIn(signature);
  if (!found) return invalid('X-Svc-Signature must be v1=<signature>, at most five of them separated by commas.');
  if (timestamp === undefined || !UNIX_SECONDS.test(timestamp))
    return invalid('X-Svc-Timestamp must be Unix time in seconds, with 10 digits.');
  if (nonce === undefined || (nonce !== null && !NONCE.test(nonce)))
    return invalid('X-Svc-Nonce must be 16 to 128 letters, digits, - or _.');
  if (keyId === undefined) return invalid('X-Svc-Key-Id must be the ID of a credential.');
  return {
    timestamp: Number(timestamp),
    expires: null,
    nonce,
    keyId,
    ...found,
    messages: (body) => [[v1Message(signedCall(call, timestamp, nonce), body)]],
  };
};

function signaturesIn(text: string): Pick<Presented, 'hmac' | 'ed25519'> | undefined {
  const items = text.split(',').map((item) => item.trim());
  if (items.length > MAX_SIGNATURES) return undefined;
  const hmac: Buffer[] = [];
  const ed25519: Buffer[] = [];
  for (const item of items) {
    const value = item.startsWith('v1=') ? item.slice(3) : '';
    if (HEX.test(value)) hmac.push(Buffer.from(value, 'hex'));
    else if (BASE64URL.test(value)) ed25519.push(Buffer.from(value, 'base64url'));
    else return undefined;
  }
  return { hmac, ed25519 };
}

const signedCall = (call: RouteCall, timestamp: string, nonce: string | null): SignedCall => ({
  timestamp,
  nonce: nonce ?? '',
  host: call.host,
  reference: referenceOf(call),
  environment: call.state.environmentHeader,
  method: call.method,
  path: call.state.forwardPath,
  query: call.state.query,
});

/** Has no nonce and names neither host nor route: for callers who sign like this already. */
export const readConcat: Read = (call) => {
  const signature = lineOf(call, 'x-signature');
  const timestamp = lineOf(call, 'x-timestamp');
  if (signature === null || timestamp === null) return missing('X-Signature and X-Timestamp');
  const keyId = keyIdOf(call);
  if (signature === undefined || !HEX.test(signature)) return invalid('X-Signature must be 64 lower-case hex digits.');
  if (timestamp === undefined || !UNIX_SECONDS.test(timestamp)) return invalid('X-Timestamp must be Unix time in seconds, with 10 digits.');
  if (keyId === undefined) return invalid('X-Svc-Key-Id must be the ID of a credential.');
  const { method, state } = call;
  const head = concatHead({ timestamp, method, path: state.forwardPath, query: state.query });
  return {
    timestamp: Number(timestamp),
    expires: null,
    nonce: null,
    keyId,
    hmac: [Buffer.from(signature, 'hex')],
    ed25519: [],
    messages: (body) => [[head, body]],
  };
};
