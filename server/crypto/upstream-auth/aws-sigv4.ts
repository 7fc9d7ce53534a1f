import { createHmac, hash } from 'node:crypto';

// AWS Signature Version 4 of a request that is about to be sent, over the bytes that are sent. A library would keep signing keys, and parse what
// was not meant for it: here nothing outlives the call.

export type AwsCredentials = { access_key_id: string; secret_access_key: string; session_token?: string | undefined };

export type AwsRequest = {
  method: string;
  /** Path and query as they are sent. */
  target: string;
  /** The Host header. */
  host: string;
  /** Name and value in turn; those that count are picked out. */
  headers: readonly string[];
  /** Null: it streams, and only S3 takes a signature that doesn't cover it. */
  body: Uint8Array | null;
};

export type AwsScope = { region: string; service: string };

/** The target with an unambiguous query, and the headers to add. `canonical` is for tests. */
export type AwsSigned = { target: string; headers: string[]; canonical: string };

/** The names whose values are set by the signature. */
const OWN = new Set(['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256']);

export function signAwsRequest(request: AwsRequest, { region, service }: AwsScope, credentials: AwsCredentials, now: Date): AwsSigned {
  const date = now.toISOString().replace(/[:-]|\.\d{3}/g, '');
  const payload = request.body === null ? 'UNSIGNED-PAYLOAD' : hash('sha256', request.body, 'hex');
  const { session_token } = credentials;
  const own: [name: string, value: string][] = [
    ['X-Amz-Date', date],
    ...(service === 's3' ? [['X-Amz-Content-Sha256', payload] as [string, string]] : []),
    ...(session_token === undefined ? [] : [['X-Amz-Security-Token', session_token] as [string, string]]),
  ];
  const signed = signedHeaders(request, own);
  const names = [...signed.keys()].sort();
  const mark = request.target.indexOf('?');
  const path = mark < 0 ? request.target : request.target.slice(0, mark);
  // A plus sign is a space to some readers and a plus to others.
  const query = mark < 0 ? null : request.target.slice(mark + 1).replaceAll('+', '%20');
  const canonical = [
    request.method.toUpperCase(),
    canonicalPath(path, service),
    canonicalQuery(query ?? ''),
    ...names.map((name) => `${name}:${signed.get(name)}`),
    '',
    names.join(';'),
    payload,
  ].join('\n');
  const scope = `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, hash('sha256', Buffer.from(canonical, 'latin1'), 'hex')].join('\n');
  const key = [date.slice(0, 8), region, service, 'aws4_request'].reduce<Buffer>(
    (under, part) => createHmac('sha256', under).update(part).digest(),
    Buffer.from(`AWS4${credentials.secret_access_key}`, 'utf8'),
  );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  key.fill(0);
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.access_key_id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return {
    target: query === null ? path : `${path}?${query}`,
    headers: [...own.flat(), 'Authorization', authorization],
    canonical,
  };
}

/** Host, Content-Type and every X-Amz-*; several values of a name are one list. */
function signedHeaders({ host, headers }: AwsRequest, own: readonly (readonly [string, string])[]): Map<string, string> {
  const signed = new Map([['host', host]]);
  const add = (name: string, value: string) => {
    const plain = value.trim().replace(/[ \t]+/g, ' ');
    const before = signed.get(name);
    signed.set(name, before === undefined ? plain : `${before},${plain}`);
  };
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (name === 'content-type' || (name.startsWith('x-amz-') && !OWN.has(name))) add(name, headers[i + 1] as string);
  }
  for (const [name, value] of own) add(name.toLowerCase(), value);
  return signed;
}

/** S3 names objects by any bytes, so its paths are encoded once and kept; others are made shorter and encoded twice. */
function canonicalPath(path: string, service: string): string {
  if (service === 's3') return encoded(decoded(path), '/') || '/';
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(encoded(Buffer.from(segment, 'latin1'), ''));
  }
  return `/${kept.join('/')}${kept.length > 0 && path.endsWith('/') ? '/' : ''}`;
}

/** In the order of the encoded names, then values. */
function canonicalQuery(query: string): string {
  const pairs = query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      const [name, value] = equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
      return [encoded(decoded(name), ''), encoded(decoded(value), '')] as const;
    });
  pairs.sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The bytes a percent-encoded text stands for; a percent sign that encodes nothing stands for itself. */
function decoded(text: string): Buffer {
  return Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

/** Percent-encodes all but unreserved characters (RFC 3986 §2.3) and those in `kept`. */
function encoded(bytes: Uint8Array, kept: string): string {
  let out = '';
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    out += /[A-Za-z0-9._~-]/.test(char) || kept.includes(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}
