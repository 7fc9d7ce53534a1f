import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';

export type NameServer = {
  /** `127.0.0.1:port` */
  address: string;
  /** By lower-case name. A name that isn't here doesn't exist. */
  names: Map<string, { a?: string[]; txt?: string[] }>;
  close(): void;
};

/** A DNS server on loopback that knows A and TXT records (RFC 1035 §4). */
export async function nameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.unref();
  const server: NameServer = { address: `127.0.0.1:${socket.address().port}`, names: new Map(), close: () => socket.close() };
  socket.on('message', (query: Buffer, from: RemoteInfo) => socket.send(answerTo(query, server.names), from.port, from.address));
  return server;
}

const A = 1;
const TXT = 16;
const NXDOMAIN = 3;

function answerTo(query: Buffer, names: NameServer['names']): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  const found = names.get(labels.join('.').toLowerCase());
  const data = type === A ? (found?.a ?? []).map(addressBytes) : type === TXT ? (found?.txt ?? []).map(textBytes) : [];
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (found ? 0 : NXDOMAIN), 2); // a response, recursion available
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 6);
  return Buffer.concat([head, query.subarray(12, at + 5), ...data.map((bytes) => record(type, bytes))]);
}

const addressBytes = (text: string): Buffer => Buffer.from(text.split('.').map(Number));

/** Strings of at most 255 bytes with their lengths. */
function textBytes(text: string): Buffer {
  const parts = text.match(/.{1,255}/gs) ?? [''];
  return Buffer.concat(parts.map((part) => Buffer.concat([Buffer.of(Buffer.byteLength(part)), Buffer.from(part)])));
}

/** The name by a pointer to the question, class IN, no time to live. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
