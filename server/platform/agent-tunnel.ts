import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { controlSocketPath } from './gateway-control.ts';
import { rootKeys } from './keys.ts';

/** An on-host agent, and the workspace and space that it must be of. */
export type TunnelAgent = { id: string; tenant_id: string; sandbox: boolean };

/** Why there is no connection: `agent_offline`, or the agent's own word. */
export class TunnelFault extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`no connection through the agent: ${code}`);
    this.code = code;
  }
}

/** A connection to a host as the agent's network reaches it, through the tunnel that the agent holds open to the gateway of this node. @throws TunnelFault */
export function dialThroughAgent({ id, tenant_id, sandbox }: TunnelAgent, host: string, port: number, patience: number): Promise<Duplex> {
  const order = Buffer.from(JSON.stringify({ agent: id, tenant: tenant_id, test: sandbox, host, port, patience })).toString('base64');
  return new Promise((resolve, reject) => {
    const asked = request({
      socketPath: controlSocketPath(),
      agent: false,
      path: '/agent-tunnels',
      headers: {
        host: 'gateway',
        connection: 'Upgrade',
        upgrade: 'sallyport-tunnel/1',
        'x-sallyport-front': frontDoorToken(rootKeys().current),
        'x-sallyport-tunnel': order,
      },
    });
    const timer = setTimeout(() => asked.destroy(new TunnelFault('timeout')), patience);
    asked.on('upgrade', (_, socket, head) => {
      clearTimeout(timer);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.on('response', (response) => {
      clearTimeout(timer);
      response.resume();
      reject(new TunnelFault(response.statusCode === 503 ? 'agent_offline' : 'refused'));
    });
    asked.on('error', (error) => {
      clearTimeout(timer);
      // Without the gateway no agent is connected.
      reject(error instanceof TunnelFault ? error : new TunnelFault('agent_offline'));
    });
    asked.end();
  });
}
