import type { Duplex } from 'node:stream';
import { dialThroughAgent, type TunnelAgent, TunnelFault } from '../agent-tunnel.ts';
import { connectGuarded } from '../http-out/connector.ts';
import { UpstreamFault } from '../http-out/faults.ts';
import type { Resolver } from '../http-out/resolver.ts';
import { BoundedStream } from './bounded-stream.ts';
import type { DatabaseTarget } from './engine.ts';
import { DatabaseFault, type Stage } from './fault.ts';
import { openTunnel } from './ssh/tunnel.ts';

/** Opens connections to the hosts of one target, guarded or through its jump host. @throws DatabaseFault */
export type Dial = (host: string, port: number, timeoutMs: number) => Promise<BoundedStream>;

export type Line = {
  dial: Dial;
  /** The key of the jump host; null without one. */
  hostKey: string | null;
  close(): void;
};

/** A jump host, or an on-host agent; neither for what is reached directly. */
type Way = Pick<DatabaseTarget, 'ssh' | 'agent'>;

/** The way to a target: with a jump host its SSH connection, which all connections of the session share. */
export async function openLine({ ssh, agent }: Way, resolver: Resolver, timeoutMs: number): Promise<Line> {
  if (agent) return { dial: throughAgent(agent), hostKey: null, close: () => undefined };
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

/** The name means what it means in the agent's network, so the guard of our own has no say. */
const throughAgent =
  (agent: TunnelAgent): Dial =>
  async (host, port, patience) => {
    try {
      return new BoundedStream(await dialThroughAgent(agent, host, port, patience));
    } catch (error) {
      if (error instanceof TunnelFault && error.code === 'agent_offline')
        throw new DatabaseFault(
          'agent_offline',
          'tcp',
          'The agent of this connection has no tunnel open. Start the agent, then try again.',
        );
      throw new DatabaseFault('database_unreachable', 'tcp', `The host ${shown(host)} is not reachable from the agent.`);
    }
  };

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
