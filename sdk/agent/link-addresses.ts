import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { hostName } from './hosts.ts';

// Addresses of the link, where clouds hand out the credentials of their machines, in every spelling. Nobody is led there: by no tunnel and by no route.

const LINK = new BlockList();
LINK.addSubnet('169.254.0.0', 16, 'ipv4'); // also ::ffff:a9fe:a9fe, which the list reads as IPv4
LINK.addSubnet('fe80::', 10, 'ipv6');
LINK.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6'); // through NAT64
LINK.addSubnet('2002:a9fe::', 32, 'ipv6'); // through 6to4
LINK.addAddress('fd00:ec2::254', 'ipv6'); // the metadata service of one cloud over IPv6

/** Of a host as it was given: a name says nothing before it is looked up, but for the one that clouds agreed on. */
export function isLinkHost(host: string): boolean {
  const name = hostName(host).replace(/%.*$/, '');
  if (name === 'metadata.google.internal') return true;
  const family = isIP(name);
  return family !== 0 && LINK.check(name, family === 6 ? 'ipv6' : 'ipv4');
}

type Looked = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** For `lookup` of a connection: its addresses are judged when it is made, and it goes to one that was. */
export function lookupOffLink(hostname: string, settings: { all?: boolean }, done: Looked): void {
  lookup(hostname, { ...settings, all: true }, (error, addresses) => {
    if (error) return done(error, '');
    const [first] = addresses;
    if (!first || addresses.some(({ address }) => isLinkHost(address)))
      return done(Object.assign(new Error(`${hostname} leads to an address of the link`), { code: 'ELINK' }), '');
    if (settings.all) done(null, addresses);
    else done(null, first.address, first.family);
  });
}
