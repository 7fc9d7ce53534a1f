import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { processState } from '#server/kernel/process-state.ts';
import { type FaultType, UpstreamFault } from './faults.ts';
import { checkAddress } from './guard.ts';
import { canonicalAddress } from './networks.ts';
import type { Lookup, PinnedAddress, Resolver } from './resolver.ts';

/** PEM texts of one route. `ca` replaces the system roots; `cert` and `key` go together. */
export type TlsMaterial = {
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
  /** Made of them already, by `tlsContext`. */
  context?: SecureContext | undefined;
};

export type Endpoint = { scheme: 'https' | 'http'; host: string; port: number; tls?: TlsMaterial | undefined };

/** Takes the bytes a socket reads. They are lent: the next read, of any socket, overwrites them. */
export type Received = (bytes: Buffer) => void;

/** Opens a socket that gives what it reads to `received`; without it the socket emits `data`. */
export type Connect = (received?: Received) => Promise<Socket | TLSSocket>;

/** Of one read, at most. */
export const READ_BYTES = 128 * 1024;
/**
 * What every unencrypted socket reads into: one read is dealt with before the next, and a buffer of its own for each would be taken and thrown
 * away a hundred thousand times a second.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * Opens sockets to one endpoint: resolve and judge, connect to an address of that very answer, look at the peer address once more,
 * then TLS with the name and one protocol to speak (interface rule 12 §9.1, §9.2, §10). Rejects with UpstreamFault of phase `connect`.
 */
export function createConnect(
  endpoint: Endpoint,
  resolver: Resolver,
  timeoutMs = 5_000,
  protocol: 'http/1.1' | 'h2' = 'http/1.1',
): Connect {
  let context: SecureContext | undefined;
  return async (received) => {
    const { scheme, host, port } = endpoint;
    const lookup = await resolver.lookup(host, port);
    if (!lookup.ok) throw connectFault(lookup.reason === 'blocked' ? 'upstream_not_allowed' : 'upstream_unreachable', lookup.message);
    if (scheme === 'http' && !lookup.exempt && !resolver.settings.allowHttp)
      throw connectFault('upstream_not_allowed', `The host ${host} can only be called over https.`);
    if (scheme === 'https') context ??= secureContext(endpoint.tls);

    const socket = await connectPinned(
      host,
      lookup.addresses,
      timeoutMs,
      (peer) => isPinned(peer, lookup, resolver),
      scheme === 'http' ? received : undefined,
    );
    if (context === undefined) return socket;
    const encrypted = await handshake(socket, host, context, timeoutMs, protocol);
    if (received) encrypted.on('data', received);
    return encrypted;
  };
}

/**
 * A plain socket by the same rules, for protocols that aren't HTTP: resolve and judge, connect to an address of that very answer, look at the peer
 * once more. Any port; no encryption. Rejects with UpstreamFault of phase `connect`.
 */
export async function connectGuarded(host: string, port: number, resolver: Resolver, timeoutMs: number): Promise<Socket> {
  const lookup = await resolver.lookup(host, port);
  if (!lookup.ok) throw connectFault(lookup.reason === 'blocked' ? 'upstream_not_allowed' : 'upstream_unreachable', lookup.message);
  return connectPinned(host, lookup.addresses, timeoutMs, (peer) => isPinned(peer, lookup, resolver), undefined);
}

/** At most two addresses, each with its share of the time: one dead machine behind a name must not fail the call. */
async function connectPinned(
  host: string,
  addresses: readonly PinnedAddress[],
  timeoutMs: number,
  allowed: (peer: string | undefined) => boolean,
  received: Received | undefined,
): Promise<Socket> {
  const tries = addresses.slice(0, 2);
  let last: unknown;
  for (const target of tries) {
    try {
      return await connectOne(target, timeoutMs / tries.length, allowed, received);
    } catch (error) {
      if (error instanceof UpstreamFault) throw error;
      last = error;
    }
  }
  throw connectFault('upstream_unreachable', `The host ${host} could not be reached.`, last);
}

function connectOne(
  { address, port }: PinnedAddress,
  timeoutMs: number,
  allowed: (peer: string | undefined) => boolean,
  received: Received | undefined,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({
      host: address,
      port,
      ...(received && { onread: lent(received) }),
      autoSelectFamily: false,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
    });
    const timer = setTimeout(() => socket.destroy(new Error('connect timeout')), timeoutMs);
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      if (allowed(socket.remoteAddress)) return resolve(socket);
      socket.destroy();
      reject(connectFault('upstream_not_allowed', 'The upstream connection reached a different address than the one that was checked.'));
    });
  });
}

/** Reads of one socket into the buffer of all, handed on by the slice. */
export const lent = (received: Received) => ({
  buffer: READ_BUFFER,
  callback(bytes: number, buffer: Uint8Array) {
    received((buffer as Buffer).subarray(0, bytes));
    return true;
  },
});

function isPinned(peer: string | undefined, lookup: Extract<Lookup, { ok: true }>, resolver: Resolver): boolean {
  const actual = peer === undefined ? undefined : canonicalAddress(peer);
  const pinned = lookup.addresses.find((one) => canonicalAddress(one.address) === actual);
  if (actual === undefined || !pinned) return false;
  return !lookup.judged || checkAddress(actual, pinned.port, resolver.settings).ok;
}

function handshake(socket: Socket, host: string, context: SecureContext, timeoutMs: number, protocol: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const options: ConnectionOptions = {
      socket,
      host,
      // RFC 6066 §3: server_name never carries an address; the certificate is then checked against `host`.
      servername: isIP(host) ? '' : host,
      secureContext: context,
      ALPNProtocols: [protocol],
      rejectUnauthorized: true,
    };
    const tls = connectTls(options);
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      const slow = error.message === 'handshake timeout';
      reject(
        connectFault(
          slow ? 'upstream_unreachable' : 'upstream_tls_error',
          slow ? `The host ${host} could not be reached.` : `The TLS connection to ${host} failed.`,
          error,
        ),
      );
    };
    const timer = setTimeout(() => tls.destroy(new Error('handshake timeout')), timeoutMs);
    tls.once('error', fail);
    tls.once('secureConnect', () => {
      clearTimeout(timer);
      tls.removeListener('error', fail);
      resolve(tls);
    });
  });
}

const roots = processState('system-roots', (): { context?: SecureContext } => ({}));

/** One context per endpoint, and one shared by all without material of their own: parsing the roots costs milliseconds. */
function secureContext(material: TlsMaterial = {}): SecureContext {
  const { ca, cert, key, context } = material;
  if (context) return context;
  if (ca === undefined && cert === undefined) {
    roots.context ??= createSecureContext({ minVersion: 'TLSv1.2' });
    return roots.context;
  }
  try {
    return createSecureContext({ minVersion: 'TLSv1.2', ca, cert, key });
  } catch (error) {
    throw connectFault('route_misconfigured', "This route's client certificate or CA can't be used.", error);
  }
}

/** A context of PEM texts, which needn't be kept then. @throws UpstreamFault route_misconfigured */
export const tlsContext = (material: TlsMaterial): TlsMaterial => ({ context: secureContext(material) });

function connectFault(type: FaultType, message: string, cause?: unknown): UpstreamFault {
  return new UpstreamFault(type, message, { phase: 'connect', cause });
}
