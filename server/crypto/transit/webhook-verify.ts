import { createHmac, timingSafeEqual } from 'node:crypto';
import { decodeBase64 } from '../base64.ts';
import { digest } from '../tokens.ts';
import { standardKey } from './standard-secret.ts';
import type { DeliveryFormat } from './webhook-formats.ts';

export type SignatureVerdict = 'verified' | 'invalid_signature' | 'replay_window_exceeded';

/** A call whose signature holds, told apart from all others by what was signed. */
export type Delivery = {
  /** Of the ID that was signed, which a sender repeats when it sends again; of all that was signed where there is none. 32 bytes. */
  digest: Buffer;
  /** The time that was signed, in epoch seconds; null: the signature holds for ever. */
  seconds: number | null;
};
export type Verified = { verdict: 'verified'; delivery: Delivery } | { verdict: Exclude<SignatureVerdict, 'verified'> };

type Signing = {
  format: DeliveryFormat;
  /** Of format `custom`: the header with the signature. */
  header: string | null;
  secret: string;
  /** How far a signed timestamp may be from now, in seconds; null turns the check off. */
  window: number | null;
};
type Received = { headers: { get(name: string): string | null }; body: Uint8Array };

/**
 * Verifies the exact bytes that arrived (interface rule 60 §4, §9). Signatures are compared in constant time, and the timestamp is judged only once the
 * signature holds: a forger learns nothing from it. Any of several signatures will do, as while a secret is being replaced.
 */
export function verifyWebhook({ format, header, secret, window }: Signing, { headers, body }: Received, now: Date): Verified {
  const claim = claimOf(format, header, headers);
  if (!claim) return { verdict: 'invalid_signature' };
  const key = keyOf(format, secret);
  const mac = createHmac('sha256', key).update(claim.prefix, 'utf8').update(body).digest();
  key.fill(0);
  let holds = false;
  for (const given of claim.macs) if (given.length === mac.length && timingSafeEqual(given, mac)) holds = true;
  if (!holds) return { verdict: 'invalid_signature' };
  const { seconds, id } = claim;
  if (seconds !== null && window !== null && Math.abs(now.getTime() / 1_000 - seconds) > window)
    return { verdict: 'replay_window_exceeded' };
  // The MAC that was computed, not the text that came: one signature can be written in several ways.
  return { verdict: 'verified', delivery: { digest: digest(id === undefined ? mac : `id ${id}`), seconds } };
}

/** Signatures in one header at most: more are not computed upon. */
const MOST_SIGNATURES = 10;

type Claim = { prefix: string; macs: readonly Buffer[]; seconds: number | null; id?: string };

/** What the headers say; null when they say nothing that could be verified. */
function claimOf(format: DeliveryFormat, header: string | null, headers: Received['headers']): Claim | null {
  switch (format) {
    case 'stripe':
      return stripeClaim(headers.get('stripe-signature') ?? '');
    case 'slack': {
      const seconds = headers.get('x-slack-request-timestamp') ?? '';
      const mac = hexMac(/^v0=(.*)$/.exec(headers.get('x-slack-signature') ?? '')?.[1] ?? '');
      return mac && isSeconds(seconds) ? { prefix: `v0:${seconds}:`, macs: [mac], seconds: Number(seconds) } : null;
    }
    case 'standard-webhooks':
      return standardClaim(headers);
    case 'aws-sns': {
      const mac = decodeBase64(headers.get('x-amz-sns-signature') ?? '');
      return mac ? { prefix: '', macs: [mac], seconds: null } : null;
    }
    case 'github':
    case 'legacy':
    case 'custom': {
      const name = format === 'github' ? 'x-hub-signature-256' : format === 'legacy' ? 'x-webhook-signature' : (header ?? '');
      const value = name === '' ? '' : (headers.get(name) ?? '');
      const mac = hexMac(value.startsWith('sha256=') ? value.slice(7) : value);
      return mac ? { prefix: '', macs: [mac], seconds: null } : null;
    }
  }
}

function stripeClaim(value: string): Claim | null {
  const parts = value.split(',').map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2));
  const macs = parts.filter((part) => part.startsWith('v1=')).map((part) => hexMac(part.slice(3)));
  const seconds = times[0] ?? '';
  if (times.length !== 1 || !isSeconds(seconds)) return null;
  return { prefix: `${seconds}.`, macs: known(macs), seconds: Number(seconds) };
}

/** Svix names the same three headers after itself. */
function standardClaim(headers: Received['headers']): Claim | null {
  const family = headers.get('webhook-signature') === null ? 'svix' : 'webhook';
  const [id, seconds, signatures] = ['id', 'timestamp', 'signature'].map((part) => headers.get(`${family}-${part}`) ?? '');
  if (!id || !seconds || !signatures || !isSeconds(seconds)) return null;
  const macs = signatures.split(' ').map((one) => (one.startsWith('v1,') ? decodeBase64(one.slice(3)) : undefined));
  return { prefix: `${id}.${seconds}.`, macs: known(macs), seconds: Number(seconds), id };
}

const known = (macs: readonly (Buffer | undefined)[]): Buffer[] => macs.flatMap((mac) => (mac ? [mac] : [])).slice(0, MOST_SIGNATURES);

/** Whole seconds since 1970: anything else is a failure, not a pass. */
const isSeconds = (text: string): boolean => /^[0-9]{1,12}$/.test(text);

const hexMac = (text: string): Buffer | undefined => (/^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined);

/** The bytes of the whole text, except where the scheme says base64: then those that the text behind its prefix stands for. */
function keyOf(format: DeliveryFormat, secret: string): Buffer {
  if (format !== 'standard-webhooks') return Buffer.from(secret, 'utf8');
  return standardKey(secret);
}
