import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { resolversInUse } from './dns-txt.ts';

export type DnsServer = {
  /** `127.0.0.1:port` */
  address: string;
  /** TXT records by name; each record is a list of its strings. A name that isn't here doesn't exist. */
  records: Map<string, string[][]>;
  /** Answers that it can't tell (SERVFAIL). */
  failing: boolean;
  close(): void;
};

/** A DNS server on loopback that knows TXT records alone (RFC 1035 §4). */
export async function dnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.unref();
  const server: DnsServer = {
    address: `127.0.0.1:${socket.address().port}`,
    records: new Map(),
    failing: false,
    close: () => socket.close(),
  };
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    socket.send(answerTo(query, server), from.port, from.address);
  });
  return server;
}

/** Two resolvers that this process asks from now on. */
export async function localResolvers(): Promise<[DnsServer, DnsServer]> {
  const pair: [DnsServer, DnsServer] = [await dnsServer(), await dnsServer()];
  resolversInUse.list = pair.map(({ address }) => address);
  return pair;
}

const SERVFAIL = 2;
const NXDOMAIN = 3;

function answerTo(query: Buffer, { records, failing }: DnsServer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const question = query.subarray(12, at + 5);
  const found = failing ? undefined : records.get(labels.join('.').toLowerCase());
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (failing ? SERVFAIL : found ? 0 : NXDOMAIN), 2); // a response, recursion available
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(found?.length ?? 0, 6);
  return Buffer.concat([head, question, ...(found ?? []).map(recordOf)]);
}

/** The name by a pointer to the question, type TXT, class IN, a TTL of a minute, and the strings with their lengths. */
function recordOf(strings: readonly string[]): Buffer {
  const data = Buffer.concat(strings.map((text) => Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text)])));
  const head = Buffer.from([0xc0, 0x0c, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
