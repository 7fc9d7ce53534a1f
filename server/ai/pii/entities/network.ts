import ipaddr from 'ipaddr.js';
import { byPattern, type Entity, type Range } from './entity.ts';
import { isVersionNumber } from './lookalikes.ts';

export const network: readonly Entity[] = [
  {
    entity: 'IP_ADDRESS',
    title: 'IP address',
    group: 'network',
    about:
      'Public IPv4 and IPv6 addresses. Private, loopback and documentation ranges are ignored, and so are numbers of versions and sections.',
    example: 'Blocked 8.8.4.4 at the edge.',
    format: 'generic',
    confidence: 0.8,
    validated: true,
    find: byPattern({
      pattern: /(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w]|\.\d)/g,
      hint: '.',
      // No address is written as 1.000.000.000.
      accepts: (match, start, text) => !match.includes('.000') && isPublic(match) && !isVersionNumber(text, start, start + match.length),
    }),
  },
  {
    entity: 'IP_ADDRESS',
    title: 'IP address',
    group: 'network',
    about: '',
    example: 'Blocked 2606:4700:4700::1111 at the edge.',
    format: 'generic',
    confidence: 0.8,
    validated: true,
    find: byPattern({ pattern: /(?<![\w:.])[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{2,41}(?![\w:])/g, hint: ':', accepts: ipv6 }),
  },
  {
    entity: 'MAC_ADDRESS',
    title: 'MAC address',
    group: 'network',
    about: 'Six pairs of hexadecimal digits with colons or dashes.',
    example: 'Device 3c:22:fb:7a:10:9e',
    format: 'generic',
    confidence: 0.8,
    validated: false,
    find: byPattern({
      pattern: /(?<![\w:-])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:-])|(?<![\w:-])(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}(?![\w:-])/g,
    }),
  },
];

function ipv6(match: string, start: number): Range | false {
  const address = match.replace(/[.:]$/, (last) => (match.endsWith('::') ? last : ''));
  const colons = address.split(':').length - 1;
  // Other numbers of groups, such as of a MAC address, aren't worth a parse.
  const isWhole = address.includes('::') ? colons >= 2 : colons === 7 || (colons === 6 && address.includes('.'));
  return isWhole && isPublic(address) ? { start, end: start + address.length } : false;
}

function isPublic(address: string): boolean {
  try {
    const parsed = ipaddr.parse(address);
    // Of IPv6 only 2000::/3 is given out (RFC 4291 §2.4): `a::b` is code.
    if (parsed instanceof ipaddr.IPv6 && !parsed.isIPv4MappedAddress() && ((parsed.parts[0] ?? 0) & 0xe000) !== 0x2000) return false;
    return parsed.range() === 'unicast';
  } catch {
    return false;
  }
}
