import assert from 'node:assert/strict';
import test from 'node:test';
import * as ws from 'ws';
import { numbers } from '#server/testing/numbers.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { type Incoming, MessageReader } from './message-reader.ts';

// Our reader against the one of ws, on the same bytes: valid streams however they are cut, and streams with a byte changed.

type Theirs = NodeJS.WritableStream & { on(event: string, take: (...args: never[]) => void): Theirs };
const { Receiver } = ws as unknown as { Receiver: new (options: object) => Theirs };
const MOST = 70_000;
const rounds = THOROUGH ? 20_000 : 150;
const seed = THOROUGH ? Date.now() % 2 ** 31 : 20_261_128;

const random = numbers(seed);
const below = (n: number): number => Math.floor(random() * n);
const noise = (length: number) => Buffer.from(Array.from({ length }, () => below(256)));
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;

function frame(opcode: number, payload: Buffer, final = true): Buffer {
  const { length } = payload;
  const head =
    length < 126
      ? [0x80 | length]
      : length < 65_536
        ? [0xfe, length >> 8, length & 255]
        : [0xff, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255];
  const mask = noise(4);
  return Buffer.concat([
    Buffer.from([(final ? 0x80 : 0) | opcode, ...head]),
    mask,
    payload.map((byte, i) => byte ^ (mask[i & 3] as number)),
  ]);
}

const control = () => frame(pick([9, 10]), noise(below(126)));
const words = () => Buffer.from('aé€𐍈'.repeat(below(pick([2, 40, 400, 6_000]))).slice(below(3) * 2));

function message(): Buffer[] {
  const text = Buffer.from(words().toString());
  const frames: Buffer[] = [];
  let at = 0;
  for (let left = below(4); left > 0; left--) {
    const end = at + below(text.length - at + 1);
    frames.push(frame(frames.length === 0 ? 1 : 0, text.subarray(at, end), false));
    if (below(3) === 0) frames.push(control());
    at = end;
  }
  const begun = frames.some((one) => ((one[0] as number) & 0x0f) === 1);
  return [...frames, frame(begun ? 0 : 1, text.subarray(at))];
}

function stream(): Buffer {
  const parts = Array.from({ length: 1 + below(4) }, () => (below(4) === 0 ? [control()] : message())).flat();
  if (below(3) === 0) parts.push(frame(8, pick([Buffer.alloc(0), Buffer.from([3, 232]), Buffer.from([3, 233, 0x68, 0x69])])));
  return Buffer.concat(parts);
}

type Read = { said: string[]; fault: number | null };

function ours(chunks: readonly Buffer[]): Read {
  const reader = new MessageReader(MOST);
  const said: string[] = [];
  for (const chunk of chunks)
    for (const one of reader.push(chunk)) {
      if (one.kind === 'fault') return { said, fault: one.code };
      said.push(inWords(one));
      if (one.kind === 'close') return { said, fault: null };
    }
  return { said, fault: null };
}
const inWords = (one: Incoming) =>
  one.kind === 'text'
    ? `text ${one.text}`
    : one.kind === 'close'
      ? `close ${one.code}`
      : one.kind === 'ping'
        ? `ping ${one.payload.toString('hex')}`
        : one.kind;

async function theirs(chunks: readonly Buffer[]): Promise<Read> {
  const receiver = new Receiver({ isServer: true, maxPayload: MOST, allowSynchronousEvents: true });
  const read: Read = { said: [], fault: null };
  let over = false;
  receiver.on('message', (data: Buffer, binary: boolean) => void read.said.push(`${binary ? 'binary' : 'text'} ${data}`));
  receiver.on('ping', (data: Buffer) => void read.said.push(`ping ${data.toString('hex')}`));
  receiver.on('pong', () => void read.said.push('pong'));
  receiver.on('conclude', (code: number) => {
    over = true;
    read.said.push(`close ${code}`);
  });
  receiver.on('error', (error: Error) => {
    over = true;
    const key = Object.getOwnPropertySymbols(error).find(({ description }) => description === 'status-code');
    read.fault = (error as unknown as Record<symbol, number>)[key as symbol] ?? 0;
  });
  for (const chunk of chunks) {
    if (over) break;
    await new Promise<void>((resolve) => receiver.write(chunk, () => resolve()));
  }
  return read;
}

function cut(bytes: Buffer): Buffer[] {
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + below(pick([3, 100, 100_000])));
    out.push(Buffer.from(bytes.subarray(at, end)));
    at = end;
  }
  return out;
}

test('reads what ws reads, however the bytes are cut', async () => {
  for (let round = 0; round < rounds; round++) {
    const chunks = cut(stream());
    const read = ours(chunks);
    assert.deepEqual([read.fault, read], [null, await theirs(chunks.map((chunk) => Buffer.from(chunk)))], `seed ${seed}, round ${round}`);
  }
});

test('refuses what ws refuses when a byte is changed, but for messages that aren’t text', async () => {
  let faults = 0;
  for (let round = 0; round < rounds * 3; round++) {
    const bytes = stream();
    const at = below(Math.min(bytes.length, 40));
    bytes[at] = (bytes[at] as number) ^ (1 << below(8));
    const [read, expected] = [ours([Buffer.from(bytes)]), await theirs([Buffer.from(bytes)])];
    if (read.fault !== null) faults++;
    if (read.fault === 1003) continue;
    assert.deepEqual(read, expected, `seed ${seed}, round ${round}: ${bytes.subarray(0, 60).toString('hex')}`);
  }
  assert.ok(faults > rounds / 4, `${faults} faults`);
});
