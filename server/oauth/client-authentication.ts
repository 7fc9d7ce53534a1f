import { digest, hasDigest, isClientId, keyIdOf, LONGEST_KEY } from '#server/crypto/tokens.ts';
import { clientById, isAllowedFrom, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import type { Form } from './form.ts';
import { OAuthProblem } from './problem.ts';

/** How a client said who it is. `readings` are the pairs that a Basic header may stand for, the plain one first. */
export type Presented = { method: 'basic' | 'post' | 'none'; readings: readonly Pair[] };
/** Looks a client up; the gateway remembers some for a moment. */
export type FindClient = (id: string, now: Date) => Promise<OAuthClient | null>;
type Pair = { id: string; secret: string | null };
const MAX_ID = 256;

/**
 * What a request presents for its client; null when it presents nothing.
 * @throws OAuthProblem invalid_request for two methods at once, invalid_client for a header that is no Basic credential
 */
export function presentedClient(authorization: string | null, form: Form): Presented | null {
  const [id, secret] = [form.get('client_id'), form.get('client_secret')];
  if (authorization === null) {
    if (id !== undefined) return { method: secret === undefined ? 'none' : 'post', readings: [{ id, secret: secret ?? null }] };
    if (secret !== undefined) throw new OAuthProblem('invalid_request', 'client_secret was sent without client_id.');
    return null;
  }
  if (secret !== undefined)
    throw new OAuthProblem('invalid_request', 'Send the client secret in the Authorization header or in the body, not in both.');
  const readings = basicPairs(authorization);
  if (readings.length === 0) throw badClient('basic');
  // Beside the header the id may be repeated, not contradicted. A key may be split anywhere, so that only its beginning is known.
  if (id !== undefined && !readings.some((pair) => pair.id === id || (fullKey(pair)?.startsWith(id) ?? false)))
    throw new OAuthProblem('invalid_request', 'client_id is not the client of the Authorization header.');
  return { method: 'basic', readings };
}

/** RFC 6749 §2.3.1 wants both halves form-encoded; many clients send them as they are. Both readings are tried. */
function basicPairs(authorization: string): Pair[] {
  const [, encoded] = /^Basic +([A-Za-z0-9+/_-]{1,4096}={0,2})$/i.exec(authorization) ?? [];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return [];
  const raw = { id: text.slice(0, colon), secret: text.slice(colon + 1) };
  const decoded = { id: formDecoded(raw.id), secret: formDecoded(raw.secret) };
  if (decoded.id === null || decoded.secret === null || (decoded.id === raw.id && decoded.secret === raw.secret)) return [raw];
  return [raw, { id: decoded.id, secret: decoded.secret }];
}

function formDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/**
 * The client that the request proves to be; null when it proves nothing. Unknown, foreign, ended and disabled ids and wrong secrets are one
 * case, and each of them costs one comparison. Without a secret only public clients are known.
 */
export async function provenClient(
  { readings }: Presented,
  ip: string | null,
  now: Date,
  find: FindClient = clientById,
): Promise<OAuthClient | null> {
  let proven: OAuthClient | null = null;
  for (const pair of readings) {
    // A text that no column can hold names no client.
    if (pair.id.length > MAX_ID || pair.id.includes('\0')) continue;
    const client = await readingClient(pair, now, find);
    if (client && isAllowedFrom(client, ip)) proven ??= client;
  }
  return proven;
}

async function readingClient(pair: Pair, now: Date, find: FindClient): Promise<OAuthClient | null> {
  const key = fullKey(pair);
  const id = key === null ? pair.id : keyIdOf(key);
  const client = key !== null || isClientId(id) ? await find(id, now) : null;
  if (pair.secret === null) return client?.type === 'public' && client.active ? client : null;
  const text = key ?? pair.secret;
  const digests = client?.type === 'confidential' && client.secret_digests.length > 0 ? client.secret_digests : [UNKNOWN];
  let matches = false;
  for (const expected of digests) matches = hasDigest(text, expected) || matches;
  return matches && client?.type === 'confidential' && client.active ? client : null;
}
/** Unknown clients are compared too. */
const UNKNOWN = digest('no secret has this digest');

/** An API key as client (interface rule 20 §1.8): the joined text counts, wherever it was split. An access key is split by Basic itself. */
function fullKey({ id, secret }: Pair): string | null {
  if (secret === null) return null;
  const joined = id.startsWith('tk_') ? `${id}_${secret}` : id.startsWith('AKE') ? `${id}:${secret}` : null;
  return joined !== null && joined.length <= LONGEST_KEY ? joined : null;
}

/** The one answer to every client that isn't proven. */
export const badClient = (method: Presented['method'] | null): OAuthProblem =>
  new OAuthProblem(
    'invalid_client',
    'Client authentication failed. Check the client id, its secret, and that the client is active.',
    401,
    method === 'basic' ? { 'www-authenticate': 'Basic realm="oauth"' } : {},
  );

/**
 * The id that was tried, as failures are counted; of a key its public part, wherever it was split. The decoded reading counts: an id has many encoded
 * spellings, and each of them would be counted on its own.
 */
export function triedId({ readings }: Presented): string {
  const last = readings.at(-1);
  const key = last && fullKey(last);
  return (key ? keyIdOf(key) : (last?.id ?? '')).slice(0, MAX_ID).replaceAll('\0', '');
}
