import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { members } from '#server/kernel/list-header.ts';
import { canonicalAddress, inNetworks, type Network } from '#server/platform/http-out/networks.ts';

/** Where a request came from, after the trusted-proxy rule. */
export type RequestOrigin = {
  /** Client address in canonical spelling; '' when the socket is already gone. */
  address: string;
  proto: 'http' | 'https';
  /** Host header, or X-Forwarded-Host of a trusted proxy; '' when absent. */
  host: string;
};

/**
 * Address, protocol and host of a request. X-Forwarded-* count only when the TCP peer is a trusted proxy (interface rules 01 §1.2,
 * 12 §5.2); of several values of proto and host the last one counts, which the nearest proxy wrote.
 */
export function requestOrigin(req: IncomingMessage, trustedProxies: readonly Network[]): RequestOrigin {
  const encrypted = 'encrypted' in req.socket;
  const host = req.headers.host ?? '';
  const peer = peerAddress(req);
  if (!isTrusted(peer, trustedProxies)) return { address: peer, proto: encrypted ? 'https' : 'http', host };
  const proto = lastValue(req.headers['x-forwarded-proto'])?.toLowerCase();
  return {
    address: forwardedFor(req, peer, trustedProxies),
    proto: proto === 'https' || proto === 'http' ? proto : encrypted ? 'https' : 'http',
    host: lastValue(req.headers['x-forwarded-host']) ?? host,
  };
}

/** Whether who connected is a trusted proxy, whose headers about the caller count. */
export const isFromTrustedProxy = (req: IncomingMessage, trustedProxies: readonly Network[]): boolean =>
  isTrusted(peerAddress(req), trustedProxies);

/** Whom an address belongs to when attempts are counted: everybody gets at least a /64 of IPv6, so its addresses count as one. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  return `${ipaddr.parse(address).toNormalizedString().split(':').slice(0, 4).join(':')}::/64`;
}

/** Behind trusted proxies the right-most X-Forwarded-For entry that is not one of them. */
function forwardedFor(req: IncomingMessage, peer: string, trustedProxies: readonly Network[]): string {
  const entries = members(req.headers['x-forwarded-for']);
  let nearest = peer;
  for (let i = entries.length - 1; i >= 0; i--) {
    const address = entryAddress(entries[i] as string);
    // Nothing left of an unreadable entry can be trusted.
    if (address === undefined) return nearest;
    if (!isTrusted(address, trustedProxies)) return address;
    nearest = address;
  }
  return nearest;
}

/** `1.2.3.4`, `1.2.3.4:5678`, `2001:db8::1`, `[2001:db8::1]:5678`. */
function entryAddress(text: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) ? canonicalAddress(bare) : undefined;
}

/** IPv4-mapped IPv6 is what a dual-stack listener calls IPv4. */
function peerAddress(req: IncomingMessage): string {
  const address = req.socket.remoteAddress ?? '';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/** Whether an address, spelled as canonicalAddress does, is a trusted proxy's. */
export function isTrusted(address: string, trustedProxies: readonly Network[]): boolean {
  return trustedProxies.length > 0 && ipaddr.isValid(address) && inNetworks(ipaddr.process(address), trustedProxies);
}

const lastValue = (header: string | string[] | undefined): string | undefined => members(header).at(-1);
