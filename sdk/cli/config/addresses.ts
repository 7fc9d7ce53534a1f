import ipaddr from 'ipaddr.js';

/** An address or range in the spelling that the service stores: host bits cleared, mapped IPv6 as IPv4, no whole-length prefix. Anything else as it is. */
export function storedAddress(text: string): string {
  const [host = '', prefix] = text.trim().split('/');
  if (!ipaddr.isValid(host) || (ipaddr.IPv4.isValid(host) && !ipaddr.IPv4.isValidFourPartDecimal(host))) return text;
  let address = ipaddr.parse(host);
  let bits = prefix === undefined ? (address.kind() === 'ipv4' ? 32 : 128) : Number(prefix);
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96) {
    address = (address as ipaddr.IPv6).toIPv4Address();
    bits -= 96;
  }
  const width = address.kind() === 'ipv4' ? 32 : 128;
  if (!Number.isInteger(bits) || bits < 0 || bits > width) return text;
  if (bits === width) return spelled(address);
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${spelled(family.networkAddressFromCIDR(`${address.toString()}/${bits}`))}/${bits}`;
}

const spelled = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
  address.kind() === 'ipv6' ? (address as ipaddr.IPv6).toRFC5952String() : address.toString();
