import { createHash } from 'node:crypto';
import net, { type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { DbListener } from './protocol.ts';
import { scram } from './scram.ts';

// One connection of a local program to PostgreSQL. The program's own password is never asked for and never sent on: the agent authenticates itself with the
// secret from custody, and then only copies bytes.

export type DbCredential = { username: string; password: string };

const SSL_REQUEST = 80877103;
const GSS_REQUEST = 80877104;
const CANCEL_REQUEST = 80877102;
const VERSION_3 = 196608;
const MAX_STARTUP = 10_000;
const MAX_MESSAGE = 64 * 1024;
const DB_TIMEOUT_MS = 15_000;

/** Serves a connection that was accepted, whatever happens to it. Throws nothing: the program is told in PostgreSQL's own words. */
export async function servePostgres(client: Socket, upstream: DbListener['upstream'], credential: () => DbCredential): Promise<void> {
  client.setTimeout(DB_TIMEOUT_MS, () => client.destroy());
  let server: Socket | undefined;
  client.on('error', () => server?.destroy());
  client.on('close', () => server?.destroy());
  try {
    const reader = messagesOf(client);
    let startup = await reader.startup();
    while (startup.code === SSL_REQUEST || startup.code === GSS_REQUEST) {
      client.write('N');
      startup = await reader.startup();
    }
    server = await connected(upstream);
    server.on('error', () => client.destroy());
    server.on('close', () => client.destroy());
    if (startup.code === CANCEL_REQUEST) return void server.end(startup.bytes);
    if (startup.code !== VERSION_3) throw new Error('Only version 3 of the protocol is served.');
    const { username, password } = credential();
    const asked = parametersOf(startup.bytes.subarray(8));
    server.write(startupOf({ ...asked, user: username, database: upstream.database ?? asked.database ?? username }));
    const theirs = messagesOf(server);
    await authenticate(server, theirs, username, password);
    client.setTimeout(0);
    server.setTimeout(0);
    client.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]));
    client.write(theirs.rest());
    server.write(reader.rest());
    server.pipe(client);
    client.pipe(server);
  } catch (error) {
    client.end(
      errorOf(error instanceof DatabaseRefusal ? error.message : error instanceof Error ? error.message : 'The connection failed.'),
    );
    server?.destroy();
  }
}

/** What the database itself answered. */
class DatabaseRefusal extends Error {}

/** Opens the connection, with TLS as far as the mode asks for it. As PostgreSQL's own modes of these names, it doesn't judge certificates. */
async function connected({ host, port, tls_mode }: DbListener['upstream']): Promise<Socket> {
  const socket = net.connect({ host, port });
  socket.setTimeout(DB_TIMEOUT_MS, () => socket.destroy(new Error('The database doesn’t answer.')));
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  if (tls_mode === 'disable') return socket;
  const request = Buffer.alloc(8);
  request.writeInt32BE(8, 0);
  request.writeInt32BE(SSL_REQUEST, 4);
  socket.write(request);
  const answer = await new Promise<string>((resolve, reject) => {
    socket.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('The database closed the connection.')));
  });
  // Anything behind the one letter would come from someone in between, before TLS.
  if (answer === 'N' && tls_mode === 'prefer') return socket;
  if (answer !== 'S') throw new Error('The database has no TLS, which this listener requires.');
  const secured = connectTls({ socket, rejectUnauthorized: false, ...(net.isIP(host) ? {} : { servername: host }) });
  await new Promise<void>((resolve, reject) => secured.once('secureConnect', resolve).once('error', reject));
  return secured;
}

async function authenticate(server: Socket, messages: Messages, username: string, password: string): Promise<void> {
  const exchange = scram(password);
  const send = (content: Buffer) => {
    const head = Buffer.alloc(5);
    head[0] = 0x70;
    head.writeInt32BE(content.length + 4, 1);
    server.write(Buffer.concat([head, content]));
  };
  let isKnown = false;
  for (;;) {
    const { type, body } = await messages.next();
    if (type === 'E') throw new DatabaseRefusal(errorText(body));
    if (type === 'N') continue;
    if (type !== 'R') throw new Error('The database answered out of turn.');
    switch (body.readInt32BE(0)) {
      case 0:
        if (!isKnown) throw new Error('The database let the agent in without a password, which a credential doesn’t fit.');
        return;
      case 3:
        if (!('encrypted' in server)) throw new Error('The database asks for the password in the clear. Turn its TLS on.');
        isKnown = true;
        send(Buffer.from(`${password}\0`));
        break;
      case 5:
        isKnown = true;
        send(Buffer.from(`md5${md5(Buffer.concat([Buffer.from(md5(Buffer.from(password + username))), body.subarray(4, 8)]))}\0`));
        break;
      case 10: {
        if (!body.subarray(4).toString().split('\0').includes('SCRAM-SHA-256')) throw new Error('The database knows no SCRAM-SHA-256.');
        const first = Buffer.from(exchange.first);
        const length = Buffer.alloc(4);
        length.writeInt32BE(first.length);
        send(Buffer.concat([Buffer.from('SCRAM-SHA-256\0'), length, first]));
        break;
      }
      case 11:
        send(Buffer.from(exchange.answer(body.subarray(4).toString())));
        break;
      case 12:
        if (!exchange.isServer(body.subarray(4).toString()))
          throw new Error('The database doesn’t know the password. It may be another one.');
        isKnown = true;
        break;
      default:
        throw new Error('The database asks for a way to authenticate that the agent doesn’t know.');
    }
  }
}

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

type Messages = {
  startup(): Promise<{ code: number; bytes: Buffer }>;
  next(): Promise<{ type: string; body: Buffer }>;
  /** What came behind the last message; nothing is read any more. */
  rest(): Buffer;
};

/** Reads a connection message by message until it is only copied. */
function messagesOf(socket: Socket): Messages {
  let buffer: Buffer = Buffer.alloc(0);
  let ended = false;
  let wake: () => void = () => {};
  const onData = (bytes: Buffer) => {
    buffer = Buffer.concat([buffer, bytes]);
    if (buffer.length > 2 * MAX_MESSAGE) socket.destroy();
    wake();
  };
  const onEnd = () => {
    ended = true;
    wake();
  };
  socket.on('data', onData).on('close', onEnd).on('end', onEnd);
  const take = async (lengthAt: number, most: number): Promise<Buffer> => {
    for (;;) {
      if (buffer.length >= lengthAt + 4) {
        const length = buffer.readInt32BE(lengthAt) + lengthAt;
        if (length < lengthAt + 4 || length > most) throw new Error('A message has an impossible length.');
        if (buffer.length >= length) {
          const message = buffer.subarray(0, length);
          buffer = buffer.subarray(length);
          return message;
        }
      }
      if (ended) throw new Error('The connection was closed.');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    async startup() {
      const bytes = await take(0, MAX_STARTUP);
      if (bytes.length < 8) throw new Error('A message has an impossible length.');
      return { code: bytes.readInt32BE(4), bytes };
    },
    async next() {
      const bytes = await take(1, MAX_MESSAGE);
      return { type: String.fromCharCode(bytes[0] ?? 0), body: bytes.subarray(5) };
    },
    rest() {
      socket.off('data', onData).off('close', onEnd).off('end', onEnd);
      return buffer;
    },
  };
}

function parametersOf(bytes: Buffer): Record<string, string> {
  const words = bytes.toString().split('\0');
  const found: Record<string, string> = {};
  for (let i = 0; i + 1 < words.length && words[i]; i += 2) found[words[i] ?? ''] = words[i + 1] ?? '';
  return found;
}

function startupOf(parameters: Record<string, string>): Buffer {
  const content = Buffer.from(`${Object.entries(parameters).flat().join('\0')}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(content.length + 8, 0);
  head.writeInt32BE(VERSION_3, 4);
  return Buffer.concat([head, content]);
}

function errorText(body: Buffer): string {
  const message = body
    .toString()
    .split('\0')
    .find((field) => field.startsWith('M'));
  return message?.slice(1) ?? 'The database refused the connection.';
}

/** An ErrorResponse: fatal, `08006` connection_failure. */
function errorOf(message: string): Buffer {
  const content = Buffer.from(`SFATAL\0VFATAL\0C08006\0MSallyport agent: ${message.replaceAll('\0', '')}\0\0`);
  const head = Buffer.alloc(5);
  head[0] = 0x45;
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}
