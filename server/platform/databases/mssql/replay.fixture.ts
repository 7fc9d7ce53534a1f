import { createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import { listen } from '../../http-out/upstream.fixture.ts';

// The part of TDS 7.4 ([MS-TDS]) that a session uses: PRELOGIN, TLS inside of it, LOGIN7, batches. What SQL Server answers to a batch is replayed.

export type Answer = readonly Readonly<Record<string, string>>[] | { error: number; message: string };
export type ReplayServer = {
  port: number;
  /** Texts of the batches, in order. */
  batches: string[];
  logins: { username: string; password: string }[];
  answer: (batch: string) => Answer | 'silence' | undefined;
  password: string;
  /** Sent after a login: another place to go to. */
  route?: { host: string; port: number } | undefined;
};

export async function replayServer(tls?: { cert: string; key: string }): Promise<ReplayServer> {
  const replay: ReplayServer = { port: 0, batches: [], logins: [], answer: () => undefined, password: 'admin-password' };
  replay.port = await listen(createServer((socket) => serve(socket, replay, tls)));
  return replay;
}

function serve(socket: Socket, replay: ReplayServer, material?: { cert: string; key: string }): void {
  socket.on('error', () => undefined);
  let encrypted: TLSSocket | undefined;
  let handshaking = false;
  const inner = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      // Until the handshake is over its records travel in PRELOGIN packets.
      socket.write(handshaking ? packet(0x12, chunk) : chunk);
      done();
    },
  });
  const reader = packets((type, body) => {
    if (type !== 0x12) return void reply(type, body, (bytes) => (encrypted ?? socket).write(bytes));
    if (handshaking) return void inner.push(body);
    socket.write(packet(0x04, prelogin(material !== undefined)));
    if (material) {
      handshaking = true;
      encrypted = new TLSSocket(inner, { isServer: true, secureContext: createSecureContext({ ...material, maxVersion: 'TLSv1.2' }) });
      encrypted.on('error', () => undefined);
      const inside = packets((kind, text) => reply(kind, text, (bytes) => encrypted?.write(bytes)));
      encrypted.on('data', (chunk: Buffer) => {
        handshaking = false;
        inside(chunk);
      });
    }
  });
  socket.on('data', (chunk: Buffer) => {
    // Records of TLS begin with 0x14 to 0x17, packets of the handshake with 0x12.
    if (handshaking && chunk[0] !== 0x12) handshaking = false;
    if (encrypted && !handshaking) inner.push(chunk);
    else reader(chunk);
  });

  function reply(type: number, body: Buffer, write: (bytes: Buffer) => unknown): unknown {
    if (type === 0x10) {
      const { username, password } = loginIn(body);
      replay.logins.push({ username, password });
      if (password !== replay.password)
        return write(packet(0x04, Buffer.concat([errorToken(18456, `Login failed for user '${username}'.`), done(2)])));
      return write(packet(0x04, Buffer.concat([loginAck(), ...(replay.route ? [routing(replay.route)] : []), done(0)])));
    }
    if (type !== 0x01) return undefined;
    const batch = body.subarray(body.readUInt32LE(0)).toString('utf16le');
    replay.batches.push(batch);
    const answer = replay.answer(batch) ?? [];
    if (answer === 'silence') return undefined;
    if ('error' in answer) return write(packet(0x04, Buffer.concat([errorToken(answer.error, answer.message), done(2)])));
    return write(packet(0x04, Buffer.concat([rows(answer), done(0x10)])));
  }
}

/** Joins packets to messages. */
function packets(take: (type: number, body: Buffer) => void): (chunk: Buffer) => void {
  let bytes = Buffer.alloc(0);
  let body = Buffer.alloc(0);
  return (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 8 && bytes.length >= bytes.readUInt16BE(2)) {
      const one = bytes.subarray(0, bytes.readUInt16BE(2));
      bytes = bytes.subarray(one.length);
      body = Buffer.concat([body, one.subarray(8)]);
      if (((one[1] as number) & 1) === 0) continue;
      const whole = body;
      body = Buffer.alloc(0);
      take(one[0] as number, whole);
    }
  };
}

function packet(type: number, body: Buffer): Buffer {
  const head = Buffer.from([type, 1, 0, 0, 0, 0, 1, 0]);
  head.writeUInt16BE(8 + body.length, 2);
  return Buffer.concat([head, body]);
}

const prelogin = (encrypts: boolean) => Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 16, 0, 0, 0, encrypts ? 1 : 2]);

function loginIn(body: Buffer): { username: string; password: string } {
  const field = (at: number) => body.subarray(body.readUInt16LE(at), body.readUInt16LE(at) + 2 * body.readUInt16LE(at + 2));
  const password = Buffer.from(field(44).map((byte) => ((byte ^ 0xa5) << 4) | ((byte ^ 0xa5) >> 4)));
  return { username: field(40).toString('utf16le'), password: password.toString('utf16le') };
}

const short = (value: number) => Buffer.from([value & 255, value >> 8]);
const bVarchar = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'utf16le')]);
const usVarchar = (text: string) => Buffer.concat([short(text.length), Buffer.from(text, 'utf16le')]);
const token = (kind: number, body: Buffer) => Buffer.concat([Buffer.from([kind]), short(body.length), body]);
const loginAck = () => token(0xad, Buffer.concat([Buffer.from([1, 0x74, 0, 0, 4]), bVarchar('SQL'), Buffer.from([16, 0, 16, 0])]));
const done = (status: number) => Buffer.concat([Buffer.from([0xfd]), short(status), Buffer.alloc(10)]);

function errorToken(number: number, message: string): Buffer {
  const head = Buffer.alloc(6);
  head.writeInt32LE(number, 0);
  head[4] = 1;
  head[5] = 16;
  return token(0xaa, Buffer.concat([head, usVarchar(message), bVarchar('replay'), bVarchar(''), Buffer.alloc(4)]));
}

function routing({ host, port }: { host: string; port: number }): Buffer {
  const value = Buffer.concat([Buffer.from([0]), short(port), usVarchar(host)]);
  return token(0xe3, Buffer.concat([Buffer.from([20]), short(value.length), value, short(0)]));
}

/** All columns as nvarchar. */
function rows(list: readonly Readonly<Record<string, string>>[]): Buffer {
  const [first] = list;
  if (!first) return Buffer.alloc(0);
  const columns = Object.keys(first).map((name) =>
    Buffer.concat([Buffer.alloc(4), short(0), Buffer.from([0xe7]), short(8_000), Buffer.from([0x09, 0x04, 0xd0, 0, 0x34]), bVarchar(name)]),
  );
  const lines = list.map((row) =>
    Buffer.concat([
      Buffer.from([0xd1]),
      ...Object.values(row).map((text) => Buffer.concat([short(text.length * 2), Buffer.from(text, 'utf16le')])),
    ]),
  );
  return Buffer.concat([Buffer.from([0x81]), short(columns.length), ...columns, ...lines]);
}
