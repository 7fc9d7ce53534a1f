import type { Duplex } from 'node:stream';
import { connectGuarded } from '../http-out/connector.ts';
import { UpstreamFault } from '../http-out/faults.ts';
import type { Resolver } from '../http-out/resolver.ts';
import { BoundedStream } from './bounded-stream.ts';
import { DatabaseFault, type Stage } from './fault.ts';
import type { SshTarget } from './ssh/ssh-target.ts';
import { openTunnel } from './ssh/tunnel.ts';

/** Opens connections to the hosts of one target, guarded or through its jump host. @throws DatabaseFault */
export type Dial = (host: string, port: number, timeoutMs: number) => Promise<BoundedStream>;

export type Line = {
  dial: Dial;
  /** The key of the jump host; null without one. */
  hostKey: string | null;
  close(): void;
};

/** The way to a target: with a jump host its SSH connection, which all connections of the session share. */
export async function openLine(ssh: SshTarget | undefined, resolver: Resolver, timeoutMs: number): Promise<Line> {
  if (ssh === undefined) {
    const dial: Dial = async (host, port, patience) => new BoundedStream(await guarded(host, port, resolver, patience, 'tcp'));
    return { dial, hostKey: null, close: () => undefined };
  }
  const socket = await guarded(ssh.host, ssh.port, resolver, timeoutMs, 'ssh');
  const tunnel = await openTunnel(socket, ssh, timeoutMs);
  return {
    dial: async (host, port, patience) => new BoundedStream(await tunnel.forward(host, port, patience)),
    hostKey: tunnel.hostKey,
    close: tunnel.close,
  };
}

/** A refused address, a closed port and silence read alike: none of them tells what lies inside. */
async function guarded(host: string, port: number, resolver: Resolver, timeoutMs: number, stage: Stage): Promise<Duplex> {
  try {
    return await connectGuarded(host, port, resolver, timeoutMs);
  } catch (error) {
    const unresolved = error instanceof UpstreamFault && error.message.endsWith('could not be resolved.');
    throw new DatabaseFault(
      'database_unreachable',
      unresolved ? 'dns' : stage,
      unresolved ? `The host ${shown(host)} could not be resolved.` : `The host ${shown(host)} is not reachable from this deployment.`,
    );
  }
}

const shown = (host: string) => host.replace(/[^\x21-\x7e]/g, '?').slice(0, 253);
