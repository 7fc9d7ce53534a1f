import ipaddr from 'ipaddr.js';

export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** `10.0.0.0/8`, `fd00::/8` or a bare address as a network. Throws TypeError on anything else: settings are refused at start. */
export function parseNetwork(text: string): Network {
  const whole = text.includes('/') ? text : ipaddr.isValid(text) ? `${text}/${text.includes(':') ? 128 : 32}` : text;
  if (!ipaddr.isValidCIDR(whole)) throw new TypeError('not an address or CIDR range');
  return ipaddr.parseCIDR(whole);
}

export function parseNetworks(list: readonly string[]): readonly Network[] {
  return list.map(parseNetwork);
}

/** True when the address lies in one of the networks; addresses of the other family never match. */
export function inNetworks(address: ipaddr.IPv4 | ipaddr.IPv6, networks: readonly Network[]): boolean {
  return networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/**
 * One spelling per address: IPv4-mapped IPv6 becomes IPv4, IPv6 is compressed, short and octal IPv4 forms are not addresses.
 * Undefined when the text is no address, or carries a zone.
 */
export function canonicalAddress(text: string): string | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text).toString();
  // The URL parser first writes the whole address in hex: ipaddr.js reads `::8.8.8.8` as a mapped address, which it is not.
  const hex = text.includes(':') ? URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1) : undefined;
  return hex === undefined ? undefined : ipaddr.process(hex).toString();
}
