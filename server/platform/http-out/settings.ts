import { networkInterfaces } from 'node:os';
import { canonicalAddress, type Network, parseNetwork, parseNetworks } from './networks.ts';

/** What the operator says about outbound connections, parsed once. */
export type EgressSettings = {
  readonly privateAllow: readonly { readonly network: Network; readonly port: number | undefined }[];
  readonly deny: readonly Network[];
  /** Lower-case names that belong to the service: each covers its subdomains, optionally only on one port. */
  readonly ownHosts: readonly { readonly name: string; readonly port: number | undefined }[];
  readonly ownPorts: ReadonlySet<number>;
  readonly ownAddresses: ReadonlySet<string>;
  readonly operatorOrigins: ReadonlySet<string>;
  readonly testHosts: ReadonlyMap<string, { readonly address: string; readonly port: number }>;
  readonly allowHttp: boolean;
};

/** The deployment's settings in the shapes the environment gives them (interface rules 12 §9, 33 §4.3); everything may be left out. */
export type EgressOptions = {
  /** CIDRs, optionally with a port, that are exempt from the guard and may be spoken to by http. */
  privateAllowlist?: readonly { cidr: string; port?: number | undefined }[] | undefined;
  /** The operator's own addresses: refused even when allow-listed. */
  denylist?: readonly string[] | undefined;
  /** `example.com` covers its subdomains and every port; `localhost:4000` that port alone. */
  ownHosts?: readonly string[] | undefined;
  /** Ports this service listens on: refused on every address of this machine, whatever the allow-list says. */
  ownPorts?: readonly number[] | undefined;
  /** Origins of the operator (the demo upstream) that skip the address rules. The whole origin becomes reachable, so nothing else may be served there. */
  operatorOrigins?: readonly string[] | undefined;
  testHosts?: readonly { name: string; port: number; address: string; address_port?: number | undefined }[] | undefined;
  allowHttp?: boolean | undefined;
};

/** Parses the options. Throws TypeError on a malformed range, host or origin, so that a process refuses to start. */
export function egressSettings(options: EgressOptions = {}): EgressSettings {
  return {
    privateAllow: (options.privateAllowlist ?? []).map(({ cidr, port }) => ({ network: parseNetwork(cidr), port })),
    deny: parseNetworks(options.denylist ?? []),
    ownHosts: (options.ownHosts ?? []).map(ownHost),
    ownPorts: new Set(options.ownPorts ?? []),
    ownAddresses: machineAddresses(),
    operatorOrigins: new Set((options.operatorOrigins ?? []).map(originKey)),
    testHosts: new Map(
      (options.testHosts ?? []).map((t) => [`${t.name}:${t.port}`, { address: t.address, port: t.address_port ?? t.port }]),
    ),
    allowHttp: options.allowHttp ?? false,
  };
}

function ownHost(text: string): EgressSettings['ownHosts'][number] {
  const [, name, port] = /^(.+?)(?::(\d+))?$/.exec(text.toLowerCase()) ?? [];
  if (!name || name.includes('/') || name.includes(':')) throw new TypeError('not a host name with an optional port');
  return { name, port: port === undefined ? undefined : Number(port) };
}

function originKey(text: string): string {
  const url = new URL(text);
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}

function machineAddresses(): ReadonlySet<string> {
  const found = Object.values(networkInterfaces()).flatMap((cards) => cards ?? []);
  return new Set(found.map((card) => canonicalAddress(card.address) ?? card.address));
}
