import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';
import { listen } from '../../http-out/upstream.fixture.ts';

// The part of MongoDB's wire protocol (OP_MSG, and OP_QUERY for the first hello) that a session uses, with SCRAM-SHA-256, answering commands as a server
// of version 7 was documented to. It keeps users in memory and nothing else: what a real server does with sessions and privileges is replayed.

export type ReplayServer = {
  port: number;
  /** Names of the commands in order, without those of the driver itself. */
  commands: Document[];
  users: Map<string, string>;
  /** Added to the answer of hello. */
  hello: Document;
  /** Answers in place of ours. */
  answer: (name: string, command: Document) => Document | undefined;
  iterations: string;
};

export async function replayServer(): Promise<ReplayServer> {
  const replay: ReplayServer = {
    ...{ port: 0, commands: [], hello: {}, iterations: '15000' },
    users: new Map([['admin.broker', 'admin-password']]),
    answer: () => undefined,
  };
  const server = createServer((socket) => serve(socket, replay));
  replay.port = await listen(server);
  return replay;
}

const OWN = new Set(['hello', 'isMaster', 'ismaster', 'saslStart', 'saslContinue', 'buildInfo', 'endSessions', 'ping']);

function serve(socket: Socket, replay: ReplayServer): void {
  let bytes = Buffer.alloc(0);
  let login: { password: string; nonce: string; first: string; salt: Buffer } | undefined;
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 4 && bytes.length >= bytes.readInt32LE(0)) {
      const message = bytes.subarray(0, bytes.readInt32LE(0));
      bytes = bytes.subarray(message.length);
      const [id, code] = [message.readInt32LE(4), message.readInt32LE(12)];
      const command = code === 2013 ? BSON.deserialize(message.subarray(21)) : legacy(message);
      socket.write(code === 2013 ? opMsg(id, reply(command)) : opReply(id, reply(command)));
    }
  });

  function reply(command: Document): Document {
    const name = Object.keys(command)[0] ?? '';
    if (!OWN.has(name)) replay.commands.push(command);
    return replay.answer(name, command) ?? known(name, command);
  }

  function known(name: string, command: Document): Document {
    if (name === 'hello' || name === 'isMaster' || name === 'ismaster')
      return {
        ...{
          ok: 1,
          isWritablePrimary: true,
          ismaster: true,
          helloOk: true,
          minWireVersion: 0,
          maxWireVersion: 21,
          maxBsonObjectSize: 16_777_216,
        },
        ...{ maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000, localTime: new Date(), saslSupportedMechs: ['SCRAM-SHA-256'] },
        ...replay.hello,
      };
    if (name === 'saslStart') {
      const first = Buffer.from(command.payload.buffer).toString().slice('n,,'.length);
      const username = /n=([^,]+)/.exec(first)?.[1] ?? '';
      const salt = randomBytes(28);
      const nonce = `${/r=(.+)$/.exec(first)?.[1]}${randomBytes(18).toString('base64')}`;
      login = { password: replay.users.get(`${command.$db}.${username}`) ?? randomBytes(9).toString('hex'), nonce, salt, first };
      return { ok: 1, conversationId: 1, done: false, payload: Buffer.from(firstMessage(login, replay)) };
    }
    if (name === 'saslContinue') return finish(Buffer.from(command.payload.buffer).toString());
    if (name === 'createUser') {
      const key = `${command.$db}.${command.createUser}`;
      if (replay.users.has(key)) return failure(51003, 'Location51003', `User "${command.createUser}@${command.$db}" already exists`);
      replay.users.set(key, command.pwd);
      return { ok: 1 };
    }
    if (name === 'updateUser') {
      replay.users.set(`${command.$db}.${command.updateUser}`, command.pwd);
      return { ok: 1 };
    }
    if (name === 'dropUser') {
      const found = replay.users.delete(`${command.$db}.${command.dropUser}`);
      return found ? { ok: 1 } : failure(11, 'UserNotFound', `User '${command.dropUser}@${command.$db}' not found`);
    }
    if (name === 'usersInfo') {
      const names = [...replay.users.keys()]
        .filter((key) => key.startsWith(`${command.$db}.`))
        .map((key) => key.slice(command.$db.length + 1));
      const asked = command.usersInfo === 1 ? names : names.filter((one) => one === command.usersInfo.user);
      return { ok: 1, users: asked.map((user) => ({ _id: `${command.$db}.${user}`, user, db: command.$db, roles: [] })) };
    }
    if (name === 'killAllSessionsByPattern') return { ok: 1 };
    if (name === 'buildInfo') return { ok: 1, version: '7.0.14' };
    return name === 'endSessions' || name === 'ping' ? { ok: 1 } : failure(59, 'CommandNotFound', `no such command: '${name}'`);
  }

  function finish(last: string): Document {
    if (!login) return failure(17, 'ProtocolError', 'No SASL session state found');
    const salted = pbkdf2Sync(login.password, login.salt, Number(replay.iterations), 32, 'sha256');
    const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
    const clientKey = hmac(salted, 'Client Key');
    const auth = `${login.first},${firstMessage(login, replay)},${last.replace(/,p=.*/, '')}`;
    const signature = hmac(createHash('sha256').update(clientKey).digest(), auth);
    const proof = Buffer.from(clientKey.map((byte, i) => byte ^ (signature[i] as number))).toString('base64');
    if (/p=(.+)$/.exec(last)?.[1] !== proof) return failure(18, 'AuthenticationFailed', 'Authentication failed.');
    const server = hmac(hmac(salted, 'Server Key'), auth).toString('base64');
    return { ok: 1, conversationId: 1, done: true, payload: Buffer.from(`v=${server}`) };
  }
}

const firstMessage = ({ nonce, salt }: { nonce: string; salt: Buffer }, { iterations }: ReplayServer) =>
  `r=${nonce},s=${salt.toString('base64')},i=${iterations}`;

export const failure = (code: number, codeName: string, errmsg: string): Document => ({ ok: 0, code, codeName, errmsg });

function legacy(message: Buffer): Document {
  const end = message.indexOf(0, 20);
  return BSON.deserialize(message.subarray(end + 1 + 8));
}

const head = (length: number, to: number, code: number) => {
  const bytes = Buffer.alloc(16);
  for (const [i, value] of [length, 1, to, code].entries()) bytes.writeInt32LE(value, i * 4);
  return bytes;
};

function opMsg(to: number, document: Document): Buffer {
  const body = BSON.serialize(document);
  return Buffer.concat([head(21 + body.length, to, 2013), Buffer.alloc(5), body]);
}

function opReply(to: number, document: Document): Buffer {
  const body = BSON.serialize(document);
  const flags = Buffer.alloc(20);
  flags.writeInt32LE(8, 0);
  flags.writeInt32LE(1, 16);
  return Buffer.concat([head(36 + body.length, to, 1), flags, body]);
}
