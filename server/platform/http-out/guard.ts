import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isBlockedRange, judgedAddress, LOCAL_NAMES, METADATA_NAMES } from './deny-list.ts';
import { canonicalAddress, inNetworks } from './networks.ts';
import type { EgressSettings } from './settings.ts';

// The one decision about where the service may connect (interface rule 12 §9). Names are judged when a URL is saved and again
// when it is used; addresses at every new connection, on the answer that is then connected to, never on an earlier one.

export type HostRefusal = {
  ok: false;
  reason: 'syntax' | 'numeric' | 'not_ascii' | 'name' | 'own_host' | 'address';
  message: string;
  /** The operator's allow-list could let it through. */
  openable?: true;
};
export type HostVerdict =
  | {
      ok: true;
      /** Lower-case, without trailing dot or brackets; an address in its canonical spelling. */
      host: string;
      kind: 'name' | 'address';
      /** The name is local: acceptable only when every address it has is on the private allow-list. */
      onlyPrivate: boolean;
    }
  | HostRefusal;

/** Judges a host as written in a URL, without DNS. `port` selects port-bound rules. Never throws. */
export function checkHost(raw: string, port: number, settings: EgressSettings): HostVerdict {
  const spelled = spelling(raw);
  if (!spelled.ok) return spelled;
  const { host } = spelled;
  if (isOperatorOrigin(host, port, settings)) return { ok: true, host, kind: isIP(host) ? 'address' : 'name', onlyPrivate: false };
  if (isIP(host)) {
    const verdict = checkAddress(host, port, settings);
    return verdict.ok
      ? { ok: true, host, kind: 'address', onlyPrivate: false }
      : { ...refuse('address', 'is not a public address'), openable: true };
  }
  if (settings.ownHosts.some((own) => covers(own.name, host) && (own.port === undefined || own.port === port)))
    return refuse('own_host', 'belongs to this service');
  if (METADATA_NAMES.some((name) => host === name)) return refuse('name', 'is not a public host name');
  const local = LOCAL_NAMES.some((name) => covers(name, host)) || !host.includes('.');
  if (local && settings.privateAllow.length === 0 && !settings.testHosts.has(`${host}:${port}`))
    return { ...refuse('name', 'is not a public host name'), openable: true };
  return { ok: true, host, kind: 'name', onlyPrivate: local };
}

export type AddressVerdict = { ok: true; exempt: boolean } | { ok: false };

/**
 * Judges one IP address for one port. `exempt` says the private allow-list opened it (http is then permitted too).
 * Mapped, NAT64 and 6to4 addresses are judged by the IPv4 address inside; what is no address is refused.
 */
export function checkAddress(text: string, port: number, settings: EgressSettings): AddressVerdict {
  const canonical = canonicalAddress(text);
  if (canonical === undefined) return { ok: false };
  const address = judgedAddress(ipaddr.parse(canonical));
  if (inNetworks(address, settings.deny)) return { ok: false };
  if (settings.ownPorts.has(port) && isThisMachine(address, settings)) return { ok: false };
  const exempt = settings.privateAllow.some((entry) => (entry.port ?? port) === port && inNetworks(address, [entry.network]));
  return exempt || !isBlockedRange(address) ? { ok: true, exempt } : { ok: false };
}

export function isOperatorOrigin(host: string, port: number, settings: EgressSettings): boolean {
  return settings.operatorOrigins.size > 0 && settings.operatorOrigins.has(`${host.includes(':') ? `[${host}]` : host}:${port}`);
}

/** A host the URL standard would spell differently is refused, so that no reader of the saved text sees another host than we do. */
function spelling(raw: string): { ok: true; host: string } | HostRefusal {
  if (/[^\x21-\x7e]/.test(raw)) return refuse('not_ascii', 'must be ASCII; use the xn-- form for internationalized names');
  const text = raw.toLowerCase();
  const six = /^\[([0-9a-f:.]+)\]$/.exec(text)?.[1] ?? (isIP(text) === 6 ? text : undefined);
  if (six !== undefined) {
    const address = canonicalAddress(six);
    return address === undefined ? refuse('syntax', 'is not a valid IPv6 address') : { ok: true, host: address };
  }
  const host = text.endsWith('.') ? text.slice(0, -1) : text;
  const parsed = URL.parse(`http://${host}/`);
  if (parsed && parsed.hostname !== host && isIP(parsed.hostname) === 4)
    return refuse('numeric', 'must be an IPv4 address written as four decimal numbers');
  if (!parsed || parsed.hostname !== host || host.length > 253 || !host.split('.').every((label) => LABEL.test(label)))
    return refuse('syntax', 'is not a valid host name');
  return { ok: true, host };
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

function covers(domain: string, host: string): boolean {
  return host === domain || (host.length > domain.length && host.endsWith(domain) && host[host.length - domain.length - 1] === '.');
}

function isThisMachine(address: ipaddr.IPv4 | ipaddr.IPv6, settings: EgressSettings): boolean {
  return address.range() === 'loopback' || address.range() === 'unspecified' || settings.ownAddresses.has(address.toString());
}

function refuse(reason: HostRefusal['reason'], message: string): HostRefusal {
  return { ok: false, reason, message };
}
