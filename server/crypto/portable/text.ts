import { hash } from 'node:crypto';
import { decodeBase64url } from '../base64.ts';
import { DecryptFailed } from '../transit/decrypt-failed.ts';

// A sealed value as text, version 1 (interface rule 41 §2):
//
//     kc:1:<datatype>:<key_ref>:<ephemeral public key>:<iv>:<ciphertext, tag>:$      each in base64url without padding

export const DATATYPES = { s: 'string', n: 'number', b: 'boolean', j: 'json', x: 'bytes' } as const;
export type Datatype = keyof typeof DATATYPES;

export type KeyRef = { tenant_id: string; app_key_id: string; key_version: number };

export type Portable = {
  datatype: Datatype;
  key_ref: KeyRef;
  /** 65 bytes, an uncompressed point; whether it lies on the curve shows when it is opened. */
  ephemeral: Buffer;
  iv: Buffer;
  /** The tag is the last 16 bytes. */
  sealed: Buffer;
  /** What the tag authenticates besides: the text before the ciphertext. */
  header: string;
};

export const MAX_PORTABLE_LENGTH = 120_000;
/** Data roles: no character that separates parts of the text they are bound with. */
export const ROLE = /^[a-z0-9][a-z0-9_.-]{0,62}$/;

/** Whether a text claims to be a sealed value. One that claims it and doesn't parse is an error, never plain text. */
export const isMarkedPortable = (text: string): boolean => text.startsWith('kc:') && text.endsWith(':$');

/** The parts of a well-formed sealed value, or undefined for any other text. No key is touched. */
export function parsePortable(text: string): Portable | undefined {
  if (text.length > MAX_PORTABLE_LENGTH) return undefined;
  const [scheme, version, datatype, ref, point, nonce, ciphertext, end, ...rest] = text.split(':', 9);
  if (scheme !== 'kc' || version !== '1' || end !== '$' || rest.length > 0 || !isDatatype(datatype)) return undefined;
  const [refBytes, ephemeral, iv, sealed] = [ref, point, nonce, ciphertext].map((segment) => decodeBase64url(segment as string));
  const key_ref = refBytes && parseKeyRef(refBytes.toString('latin1'));
  if (!key_ref || ephemeral?.length !== 65 || ephemeral[0] !== 4 || iv?.length !== 12 || !sealed || sealed.length < 16) return undefined;
  return { datatype, key_ref, ephemeral, iv, sealed, header: text.slice(0, text.length - (ciphertext as string).length - 3) };
}

/** The parts of a text that claims to be a sealed value. @throws DecryptFailed */
export function requirePortable(text: string): Portable {
  const parsed = parsePortable(text);
  if (parsed) return parsed;
  throw /^kc:[0-9]{1,9}:/.test(text) && !text.startsWith('kc:1:') ? new DecryptFailed('unsupported scheme version') : new DecryptFailed();
}

const isDatatype = (text: string | undefined): text is Datatype => text !== undefined && Object.hasOwn(DATATYPES, text);

function parseKeyRef(text: string): KeyRef | undefined {
  const match = KEY_REF.exec(text);
  return match ? { tenant_id: match[1] as string, app_key_id: match[2] as string, key_version: Number(match[3]) } : undefined;
}
const KEY_REF =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}):([1-9][0-9]{0,8})$/;

export const keyRefText = ({ tenant_id, app_key_id, key_version }: KeyRef): string => `${tenant_id}:${app_key_id}:${key_version}`;

/** Names a ciphertext without showing it; two seals of one value have two fingerprints. */
export const fingerprint = ({ iv, sealed }: Portable): string =>
  `sha256:${hash('sha256', Buffer.concat([iv, sealed]), 'hex').slice(0, 32)}`;
