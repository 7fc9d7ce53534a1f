import { promises as dns } from 'node:dns';
import { type IncomingMessage, request } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { grouped } from '#server/kernel/numbers.ts';
import { egress } from './egress.ts';
import { env } from './env.ts';
import { createConnect } from './http-out/connector.ts';
import { createResolver, type ResolveFamily, type Resolver } from './http-out/resolver.ts';

// How a certificate authority looks whether a client controls a name (RFC 8555 §8.3, §8.4; RFC 8737 §3). Every connection goes through the guard: names
// are resolved once, judged, and connected to by what was judged.

/** Why nothing could be looked at. The same words for a refused address, a closed port and silence: what a name points to inside is nobody's business. */
export class ProbeFault extends Error {
  readonly kind: 'dns' | 'connection' | 'tls' | 'redirect' | 'too_large';
  constructor(kind: ProbeFault['kind'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ProbeFault';
    this.kind = kind;
  }
}

const PROBE_MS = 10_000;
const CONNECT_MS = 5_000;
const MOST_BYTES = 8 * 1024;
const MOST_REDIRECTS = 5;
const MOST_RECORDS = 100;

/**
 * The answer of `http://<host>/<path>`, after at most five redirects to http or https on their own ports. Certificates on the way are not judged: whoever
 * asks for one may not have one yet. @throws ProbeFault
 */
export async function fetchProof(host: string, path: string): Promise<{ status: number; body: Buffer }> {
  const signal = AbortSignal.timeout(PROBE_MS);
  let url = new URL(`http://${host}${path}`);
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const answer = await get(url, signal);
    if (answer.location === undefined) return answer;
    const next = URL.parse(answer.location, url.href);
    if (!next || !isRedirectTarget(next)) throw new ProbeFault('redirect', `${host} redirects to an address that is not followed.`);
    url = next;
  }
  throw new ProbeFault('redirect', `${host} redirects more than ${MOST_REDIRECTS} times.`);
}

/** The certificate that a host shows to a client which speaks acme-tls/1 alone, as DER. @throws ProbeFault */
export async function alpnCertificate(host: string): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(PROBE_MS);
  const socket = await guardedSocket(host, 443);
  try {
    const tls = await handshake(socket, { servername: host, ALPNProtocols: ['acme-tls/1'] }, signal);
    if (tls.alpnProtocol !== 'acme-tls/1') throw new ProbeFault('tls', `${host} does not speak acme-tls/1 on port 443.`);
    return tls.getPeerCertificate().raw;
  } catch (error) {
    throw error instanceof ProbeFault ? error : new ProbeFault('tls', `The TLS connection to ${host} failed.`, error);
  } finally {
    socket.destroy();
  }
}

/** The values of a TXT record; the strings of one record are one value. None when there is no record. @throws ProbeFault dns when no resolver answers */
export async function txtValues(name: string): Promise<readonly string[]> {
  const asked = dnsResolver();
  const timer = setTimeout(() => asked.cancel(), PROBE_MS);
  try {
    const records = await asked.resolveTxt(name);
    return records.slice(0, MOST_RECORDS).map((parts) => parts.join(''));
  } catch (error) {
    if (NO_RECORD.has((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw new ProbeFault('dns', `The TXT record of ${name} could not be looked up.`, error);
  } finally {
    clearTimeout(timer);
  }
}

/** Answers that say for certain that there is no such record. */
const NO_RECORD = new Set(['ENOTFOUND', 'ENODATA']);

type Answer = { status: number; body: Buffer; location?: string };

async function get(url: URL, signal: AbortSignal): Promise<Answer> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = url.protocol === 'https:';
  const raw = await guardedSocket(host, secure ? 443 : 80);
  try {
    const options = { servername: isIP(host) ? '' : host, ALPNProtocols: ['http/1.1'] };
    const socket = secure ? await handshake(raw, options, signal) : raw;
    return await exchange(socket, url, signal);
  } catch (error) {
    throw error instanceof ProbeFault ? error : unreachable(host, secure ? 443 : 80, error);
  } finally {
    raw.destroy();
  }
}

function exchange(socket: Socket, url: URL, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({
      createConnection: () => socket,
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, accept: '*/*', 'accept-encoding': 'identity', connection: 'close', 'user-agent': 'Sallyport-ACME/1' },
      maxHeaderSize: 16 * 1024,
      setHost: false,
      signal,
    });
    sent.on('error', reject);
    sent.on('upgrade', () => reject(new ProbeFault('connection', `${url.hostname} did not answer with HTTP.`)));
    sent.on('response', (answer) => {
      const { statusCode: status = 0, headers } = answer;
      if (REDIRECTS.has(status) && headers.location !== undefined)
        return resolve({ status, body: Buffer.alloc(0), location: headers.location });
      bodyOf(answer, url.hostname).then((body) => resolve({ status, body }), reject);
    });
    sent.end();
  });
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

async function bodyOf(answer: IncomingMessage, host: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new ProbeFault('too_large', `The answer of ${host} is longer than ${grouped(MOST_BYTES)} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** By the default ports alone: a redirect is no way to reach other services. */
const isRedirectTarget = ({ protocol, port, username, password, hostname }: URL): boolean =>
  (protocol === 'http:' || protocol === 'https:') && port === '' && username === '' && password === '' && hostname !== '';

/** A connected socket to an address that passed the guard. @throws ProbeFault connection */
async function guardedSocket(host: string, port: number): Promise<Socket> {
  try {
    const socket: Socket = await createConnect({ scheme: 'http', host, port }, guardedResolver(), CONNECT_MS)();
    socket.on('error', () => undefined); // whoever uses it listens as well; until then one must not end the process
    return socket;
  } catch (error) {
    throw unreachable(host, port, error);
  }
}

function handshake(socket: Socket, options: { servername: string; ALPNProtocols: string[] }, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const tls = connectTls({ socket, ...options, rejectUnauthorized: false, minVersion: 'TLSv1.2' });
    const giveUp = () => tls.destroy(new Error('handshake timeout'));
    signal.addEventListener('abort', giveUp, { once: true });
    // Errors after the handshake belong to whoever reads from the socket; without a listener they would end the process.
    tls.on('error', reject);
    tls.once('secureConnect', () => {
      signal.removeEventListener('abort', giveUp);
      resolve(tls);
    });
    tls.once('close', () => reject(new Error('closed during the handshake')));
  });
}

/** A resolver of its own for each look, so that what was just changed is seen. Plain http is what the protocol asks for. */
const guardedResolver = (): Resolver =>
  createResolver({ settings: { ...egress().settings, allowHttp: true }, resolve: askDns, timeoutMs: CONNECT_MS });

const askDns: ResolveFamily = async (host, family, signal) => {
  if (isIP(host)) throw new Error('an address is not a name');
  const asked = dnsResolver();
  signal.addEventListener('abort', () => asked.cancel(), { once: true });
  return family === 4 ? asked.resolve4(host, { ttl: true }) : asked.resolve6(host, { ttl: true });
};

/** The resolvers of the deployment that know its private names, or those of the system. */
function dnsResolver(): dns.Resolver {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  if (env.PKI_DNS_RESOLVERS.length > 0) resolver.setServers([...env.PKI_DNS_RESOLVERS]);
  return resolver;
}

const unreachable = (host: string, port: number, cause: unknown) =>
  new ProbeFault(
    'connection',
    `${host} could not be reached on port ${port}. If its address is private, the operator must allow it with UPSTREAM_PRIVATE_ALLOWLIST.`,
    cause,
  );
