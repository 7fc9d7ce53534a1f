import type { Duplex } from 'node:stream';
import { DatabaseFault } from '../fault.ts';
import type { SshTarget } from './ssh-target.ts';

export type Tunnel = { hostKey: string; forward(host: string, port: number, timeoutMs: number): Promise<Duplex>; close(): void };

export async function openTunnel(_socket: Duplex, _ssh: SshTarget, _timeoutMs: number): Promise<Tunnel> {
  throw new DatabaseFault('database_unreachable', 'ssh', 'Not yet.');
}
