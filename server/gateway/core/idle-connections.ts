import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { inNetworks, type Network } from '#server/platform/http-out/networks.ts';
import { networkOf } from './client-address.ts';

/** So many of the oldest connections of a network are looked at when it opens another one. */
const LOOKED_AT = 64;

export type IdleLimit = {
  /** Connections of one network, beyond which those without a call are closed. */
  most: number;
  /** A connection as young as that is about to bring its call; below twice `most` it is let be. */
  graceMs: number;
  /** Load balancers hold connections for everybody, and everybody is behind them: they have no limit. */
  trustedProxies: readonly Network[];
  isBusy(socket: Socket): boolean;
};

/** The connections of one network with the time they came, oldest first. */
type Held = Map<Socket, number>;

/**
 * Keeps one network (an address, a /64 of IPv6) from taking every place of a port with connections on which nothing happens: beyond `most` the oldest
 * of them makes room for the newest, so the network itself is served on and a connection with a call under way is never closed. Counted when a
 * connection comes and goes; a call costs nothing.
 */
export function boundIdleConnections(server: Server, limit: IdleLimit): void {
  const networks = new Map<string, Held>();
  server.on('connection', (socket: Socket) => {
    const network = networkAt(socket.remoteAddress, limit.trustedProxies);
    if (network === undefined) return;
    const held: Held = networks.get(network) ?? new Map();
    networks.set(network, held);
    const now = performance.now();
    makeRoom(held, limit, now);
    held.set(socket, now);
    socket.once('close', () => {
      held.delete(socket);
      if (held.size === 0 && networks.get(network) === held) networks.delete(network);
    });
  });
}

/** A busy one goes to the end of the line: the next look begins behind it, so that no look is long. */
function makeRoom(held: Held, { most, graceMs, isBusy }: IdleLimit, now: number): void {
  let looked = 0;
  for (const [socket, since] of held) {
    if (held.size < most || ++looked > LOOKED_AT) return;
    held.delete(socket);
    if (isBusy(socket) || (now - since < graceMs && held.size < 2 * most)) held.set(socket, since);
    else socket.destroy();
  }
}

/** Undefined for a unix socket, for a caller who is gone already, and for a trusted proxy. */
function networkAt(peer: string | undefined, trustedProxies: readonly Network[]): string | undefined {
  if (!peer || !ipaddr.isValid(peer)) return undefined;
  const address = ipaddr.process(peer);
  return inNetworks(address, trustedProxies) ? undefined : networkOf(address.toString());
}
