import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { uuidV7 } from '#server/crypto/random.ts';
import { digest, hasDigest } from '#server/crypto/tokens.ts';
import { log } from '#server/platform/log.ts';
import { joined, Multiplexer, type Target, TunnelRefused } from '#server/platform/multiplexer.ts';
import { bareRefusal, refuseSocket } from '../core/bare-refusal.ts';
import type { AgentSession, AgentSessions } from '../credentials/agent-sessions.ts';

export const TUNNEL_PATH = '/agent/v1/tunnel';
export const TUNNEL_PROTOCOL = 'sallyport-tunnel/1';
/** What the web and worker processes ask for on the control socket. */
const ORDER_PATH = '/agent-tunnels';
const MOST_TUNNELS = 5_000;
/** A revoked agent's tunnel is cut within this. */
const CHECK_MS = 1_000;

export type Tunnels = {
  /** An agent's handshake on a public port. */
  take(req: IncomingMessage, socket: Duplex, space: 'live' | 'test' | null): Promise<void>;
  /** A handshake of our own processes on the control socket. */
  order(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
  close(): void;
};

type Tunnel = { mux: Multiplexer; session: AgentSession; token: string };

/** Whether a request asks for a tunnel. */
export const asksForTunnel = (req: IncomingMessage): boolean =>
  req.method === 'GET' &&
  req.headers.upgrade?.toLowerCase() === TUNNEL_PROTOCOL &&
  (req.url === TUNNEL_PATH || req.url?.startsWith(ORDER_PATH) === true);

/**
 * Connections that on-host agents hold open to this gateway, through which databases in their networks are reached (interface rule 44 §3.1). One per agent: a
 * newer one takes the place of the older. `token` is what our own processes show.
 */
export function createTunnels(agents: AgentSessions, token: string): Tunnels {
  const open = new Map<string, Tunnel>();
  const timer = setInterval(() => void checkAll(), CHECK_MS);
  timer.unref();

  /** Cuts those whose session has ended, whatever ended it. While the database is away nothing is cut. */
  async function checkAll(): Promise<void> {
    for (const [id, { session, token: shown, mux }] of open) {
      const known = await Promise.resolve(agents.find(shown)).catch(() => 'busy' as const);
      if (known === 'busy') continue;
      if (known !== null && known.id === session.id && known.expires_at.getTime() > Date.now()) continue;
      mux.close();
      open.delete(id);
    }
  }

  return {
    async take(req, socket, space) {
      socket.on('error', () => socket.destroy());
      const [id, shown] = [req.headers['x-svc-agent-id'], req.headers['x-svc-agent-token']];
      const known = typeof shown === 'string' ? await Promise.resolve(agents.find(shown)).catch(() => 'busy' as const) : null;
      if (known === 'busy') return refuse(socket, 503, 'dependency_unavailable', "The gateway can't check the session of the agent.");
      if (known === null || known.agent_id !== id || known.expires_at.getTime() <= Date.now())
        return refuse(socket, 401, 'invalid_token', 'The session token is unknown, ended, or of another agent. Open a new session.');
      if (known.sandbox !== (space === 'test')) return refuse(socket, 403, 'wrong_tenant', 'This agent belongs to the other space.');
      if (open.size >= MOST_TUNNELS) return refuse(socket, 503, 'dependency_unavailable', 'Too many agents are connected here.');
      if (socket.destroyed) return;
      socket.write(SWITCHING);
      const mux = new Multiplexer(socket);
      const before = open.get(known.agent_row_id);
      open.set(known.agent_row_id, { mux, session: known, token: shown as string });
      before?.mux.close();
      log.debug({ agent_id: known.agent_id }, 'an agent opened its tunnel');
      await mux.ended;
      if (open.get(known.agent_row_id)?.mux === mux) open.delete(known.agent_row_id);
    },

    async order(req, socket, head) {
      socket.on('error', () => socket.destroy());
      const header = (name: string) => String(req.headers[name] ?? '');
      if (!hasDigest(header('x-sallyport-front'), digest(token))) return refuse(socket, 403, 'forbidden', 'Not for you.');
      const { agent, tenant, test, host, port, patience } = JSON.parse(
        Buffer.from(header('x-sallyport-tunnel'), 'base64').toString(),
      ) as Order;
      const found = open.get(agent);
      // The caller's workspace and space once more: an ID alone opens nothing.
      if (!found || found.session.tenant_id !== tenant || found.session.sandbox !== test)
        return refuse(socket, 503, 'agent_offline', 'offline');
      try {
        const stream = await found.mux.open({ host, port } satisfies Target, Math.min(patience, 60_000));
        if (socket.destroyed) return void stream.destroy();
        socket.write(SWITCHING);
        if (head.length > 0) stream.write(head);
        joined(socket, stream);
      } catch (error) {
        const code = error instanceof TunnelRefused ? error.code : 'refused';
        refuse(socket, 502, code === 'closed' ? 'agent_offline' : 'refused', code);
      }
    },

    close() {
      clearInterval(timer);
      for (const { mux } of open.values()) mux.close();
      open.clear();
    },
  };
}

export type Order = { agent: string; tenant: string; test: boolean; host: string; port: number; patience: number };

const SWITCHING = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${TUNNEL_PROTOCOL}\r\n\r\n`;

const refuse = (socket: Duplex, status: number, type: string, message: string): void =>
  refuseSocket(socket, status, bareRefusal(type, message, uuidV7()));
