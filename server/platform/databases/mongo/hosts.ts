import { Resolver } from 'node:dns/promises';
import { type DatabaseTarget, DEFAULT_PORTS } from '../engine.ts';
import { DatabaseFault } from '../fault.ts';

export type HostPort = { host: string; port: number };
/** The SRV records of a name. */
export type ResolveSrv = (name: string) => Promise<readonly { name: string; port: number }[]>;

const MOST = 20;

/** Where to begin: the hosts of a comma list, or those that an SRV name stands for. @throws DatabaseFault */
export async function seedsOf({ host, port, options }: DatabaseTarget, resolve: ResolveSrv): Promise<HostPort[]> {
  if (options.srv !== true)
    return host
      .split(',')
      .slice(0, MOST)
      .map((one) => hostPort(one.trim(), port ?? DEFAULT_PORTS.mongo));
  let records: readonly { name: string; port: number }[];
  try {
    records = await resolve(`_mongodb._tcp.${host}`);
  } catch {
    records = [];
  }
  // As the driver does: an SRV record may not lead out of the domain that was named (Initial DNS Seedlist Discovery).
  const domain = `.${host.toLowerCase().split('.').slice(1).join('.')}`;
  const found = records.map((record) => ({ host: record.name.toLowerCase().replace(/\.$/, ''), port: record.port }));
  if (found.length === 0) throw new DatabaseFault('database_unreachable', 'dns', 'There is no SRV record of that name.');
  if (host.split('.').length < 3 || !found.every((one) => one.host.endsWith(domain)))
    throw new DatabaseFault('database_unreachable', 'dns', 'The SRV record names hosts of another domain.');
  return found.slice(0, MOST);
}

/** @throws DatabaseFault */
export function hostPort(text: string, fallback: number): HostPort {
  const [, six, name, port] = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([^\s:[\]/?#@,]{1,253}))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = port === undefined ? fallback : Number(port);
  if ((six ?? name) === undefined || number < 1 || number > 65_535)
    throw new DatabaseFault('database_unreachable', 'dns', 'This is not a host of MongoDB.');
  return { host: six ?? (name as string), port: number };
}

export const askSrv: ResolveSrv = (name) => new Resolver({ timeout: 1_500, tries: 2 }).resolveSrv(name);
