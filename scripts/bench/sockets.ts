import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Problem, root } from '../command.ts';
import { freePorts } from '../ports.ts';
import { makeCaller } from './equal.ts';
import { startHaproxy } from './equal-peers.ts';
import { get } from './http.ts';
import { cores, cpuSeconds, median, spawnOn, stopChild, until } from './machine.ts';
import { micros, type Row, say, times } from './report.ts';
import { install } from './service.ts';
import type { SocketLoad } from './socket-load.ts';

const rounds = 3;
const target = 1.5;
const shape = { sockets: 32, seconds: 4 };
const SIZES = [128, 4096];
type Side = 'sallyport' | 'HAProxy';

/** CPU of a WebSocket message there and back, beside HAProxy in front of the same upstream. One message is on its way on each socket. */
export async function measureSockets(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  const [upstreamPort = 0] = await freePorts(1);
  const upstream = spawnOn(cores.others, process.execPath, [
    path.join(root, 'scripts/bench/socket-upstream.ts'),
    JSON.stringify({ port: upstreamPort }),
  ]);
  const stops = [installation.stop, () => stopChild(upstream)];
  try {
    await until('The upstream', () => get(`http://127.0.0.1:${upstreamPort}`).then(Boolean, () => false), 30_000, upstream);
    const { key, digest, host } = await makeCaller(installation, upstreamPort);
    const gateway = await installation.startGateway();
    const headers = { 'X-Svc-Key': key };
    const sides = new Map<Side, { load: Omit<SocketLoad, 'bytes'>; pids: () => number[] }>();
    const ours = { url: `ws://127.0.0.1:${installation.ports.proxy}/equal/`, headers: { ...headers, Host: host } };
    sides.set('sallyport', { load: { ...shape, ...ours }, pids: () => [gateway.pid ?? 0] });
    const peer = await startHaproxy({ directory, where: cores.measured, upstreamPort, key, digest, limit: 1_000_000 });
    if (peer) {
      stops.unshift(peer.stop);
      sides.set('HAProxy', { load: { ...shape, url: `ws://127.0.0.1:${peer.port}/`, headers }, pids: peer.pids });
    } else say('HAProxy: skipped, it is not installed (apt-get install haproxy)');
    const rows: Row[] = [];
    for (const bytes of SIZES) {
      const cpu = new Map<Side, number[]>();
      for (let round = 0; round <= rounds; round++)
        for (const [side, { load, pids }] of sides) {
          const seconds = round === 0 ? 8 : shape.seconds; // a process that has just begun still compiles
          const before = cpuSeconds(pids());
          const messages = await drive({ ...load, bytes, seconds });
          await sleep(500);
          const cost = ((cpuSeconds(pids()) - before) / messages) * 1e6;
          if (round === 0) continue;
          cpu.set(side, [...(cpu.get(side) ?? []), cost]);
          say(`${bytes} bytes, round ${round}, ${side}: ${micros(cost)}, ${Math.round(messages / seconds)} messages/s`);
        }
      rows.push(rowOf(bytes, cpu.get('sallyport') ?? [], cpu.get('HAProxy')));
    }
    return rows;
  } finally {
    for (const stop of stops) await stop();
  }
}

function rowOf(bytes: number, ours: readonly number[], theirs: readonly number[] | undefined): Row {
  const row = { what: `WebSocket message of ${bytes} bytes and back, CPU`, measured: micros(median(ours)), target: `<= ${target} x` };
  if (!theirs) return { ...row, against: 'HAProxy skipped', value: '', pass: null };
  const ratio = median(ours.map((cost, round) => cost / (theirs[round] ?? Number.NaN)));
  return { ...row, against: `HAProxy ${micros(median(theirs))}`, value: times(ratio), pass: ratio <= target };
}

/** How many messages came back. */
async function drive(load: SocketLoad): Promise<number> {
  const file = path.join(root, 'scripts/bench/socket-load.ts');
  const { stdout } = await promisify(execFile)('taskset', ['-c', cores.others, process.execPath, file, JSON.stringify(load)]);
  const [, json] = /^result (.*)$/m.exec(stdout) ?? [];
  const { messages, bad } = JSON.parse(json ?? '{"messages":0,"bad":0}') as { messages: number; bad: number };
  if (bad > 0 || messages === 0) throw new Problem(`${bad} of ${messages} messages to ${load.url} failed, so there is nothing to compare.`);
  return messages;
}
