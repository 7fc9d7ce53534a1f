import ipaddr from 'ipaddr.js';
import { inNetworks, type Network, parseNetworks } from './networks.ts';

/** Special-purpose IPv4 space (IANA registry, RFC 6890): never a public upstream (interface rule 12 §9.3). */
export const BLOCKED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '255.255.255.255/32',
] as const;

/** The same for IPv6. What is not listed but outside global unicast space (2000::/3) is blocked as well. */
export const BLOCKED_IPV6 = [
  '::/128',
  '::1/128',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const;

/** IPv6 ranges that carry an IPv4 address, and the 16-bit group it starts at: that address is what gets judged. */
const EMBEDDING: readonly (readonly [Network, number])[] = [
  [['::ffff:0:0/96'], 6],
  [['64:ff9b::/96'], 6],
  [['2002::/16'], 1],
].map(([range, group]) => [parseNetworks(range as string[])[0] as Network, group as number]);

const blocked4 = parseNetworks(BLOCKED_IPV4);
const blocked6 = parseNetworks(BLOCKED_IPV6);
const globalUnicast = parseNetworks(['2000::/3']);

/** The IPv4 address inside a mapped, NAT64 or 6to4 address; the address itself otherwise. */
export function judgedAddress(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address.kind() === 'ipv4') return address;
  const six = address as ipaddr.IPv6;
  const found = EMBEDDING.find(([network]) => inNetworks(six, [network]));
  if (!found) return six;
  const [high, low] = [six.parts[found[1]] ?? 0, six.parts[found[1] + 1] ?? 0];
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}

/** True for every address that is not public unicast. Expects the result of judgedAddress. */
export function isBlockedRange(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === 'ipv4' ? inNetworks(address, blocked4) : inNetworks(address, blocked6) || !inNetworks(address, globalUnicast);
}

/** Names that never leave the machine or its network (RFC 6761, 6762, 8375). The private allow-list may open these. */
export const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa', 'localdomain', 'lan', 'intranet', 'corp', 'home'] as const;

/** Cloud metadata services by name; no setting opens these. */
export const METADATA_NAMES = [
  'metadata.google.internal',
  'metadata.goog',
  'metadata',
  'instance-data',
  'instance-data.ec2.internal',
] as const;

/** Ports of protocols that answer to text on the first line: an HTTP request must not become a mail or a database command (10 §4.3). */
export const REFUSED_PORTS: ReadonlySet<number> = new Set([
  22, 23, 25, 110, 135, 139, 143, 445, 465, 587, 993, 995, 1433, 2049, 2375, 2379, 3306, 3389, 5432, 5672, 6379, 9200, 11211, 27017,
]);
