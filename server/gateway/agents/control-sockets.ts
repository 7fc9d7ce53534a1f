import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { uuidV7 } from '#server/crypto/random.ts';
import { digest } from '#server/crypto/tokens.ts';
import { webSocketAccept } from '#server/crypto/websocket-accept.ts';
import type { Space } from '#server/kernel/context.ts';
import { log } from '#server/platform/log.ts';
import { bareHead, bareRefusal, refuseSocket, requestIdIn } from '../core/bare-refusal.ts';
import type { RequestOrigin } from '../core/client-address.ts';
import type { CallWeb, WebAnswer, WebCall } from '../core/web-call.ts';
import { isHandshake } from '../core/websocket/handshake.ts';
import { MessageSocket } from '../core/websocket/message-socket.ts';
import { type AgentSessions, standingSessions } from '../credentials/agent-sessions.ts';

export const CONTROL_PATH = '/agent/v1/control';
const HEARTBEAT_PATH = '/agent/v1/heartbeat';

/** As for a heartbeat by POST. */
const MOST_BYTES = 64 * 1024;
/** Messages that wait while one is answered; nobody honest sends a second one. */
const MOST_WAITING = 4;
const MOST_SOCKETS = 10_000;
const LOOK_MS = 1_000;
/** A load balancer between takes a silent connection for dead after a minute. */
const PING_MS = 25_000;
const SILENT_MS = 90_000;
/** Changes are announced; this is for an announcement that was lost. */
const CHECK_MS = 10_000;
const CHECKED_AT_ONCE = 1_000;

const GOING_AWAY = 1001;
const POLICY = 1008;
/** Retryable, of RFC 6455's registry: the service restarts, and comes back; try again later. */
const RESTART = 1012;
const TRY_LATER = 1013;

export type ControlSockets = {
  readonly size: number;
  /** An agent's handshake on a public port. Never rejects. */
  take(req: IncomingMessage, socket: Duplex, first: Buffer, from: { space: Space; origin: RequestOrigin }): Promise<void>;
  /** Tells all agents that the gateway goes away, and takes no more. */
  close(): void;
};

export type ControlOptions = {
  callWeb: CallWeb;
  agents: Pick<AgentSessions, 'follow'>;
};

type Open = {
  readonly tenant: string;
  readonly digest: string;
  /** When its session ends, epoch milliseconds. */
  readonly until: number;
  readonly ask: Ask;
  socket: MessageSocket;
  pingedAt: number;
  waiting: string[];
  commanded: boolean;
  busy: boolean;
};
type Ask = (call: Pick<WebCall, 'method' | 'path' | 'added' | 'body'>) => ReturnType<CallWeb>;

/** Whether a request asks for a control connection; anything else on its path is an ordinary call, which web answers. */
export const asksForControl = (req: IncomingMessage): boolean => req.url === CONTROL_PATH && isHandshake(req);

/**
 * WebSockets over which on-host agents send their heartbeats and get commands at once (interface rule 63 §5). They end here, and what is said in them is decided by
 * web: each message is a heartbeat there, one at a time. One per agent, a newer one takes the place of the older. An idle one costs
 * its socket and a ping every 25 s.
 */
export function createControlSockets({ callWeb, agents }: ControlOptions): ControlSockets {
  const open = new Map<string, Open>();
  let closing = false;
  let heard = 0;
  let checkedAt = performance.now();
  const timer = setInterval(lookAtAll, LOOK_MS);
  timer.unref();

  agents.follow({
    changed(tenant, hex) {
      heard++;
      const these = [...open.values()].filter(
        (one) => (tenant === undefined || one.tenant === tenant) && (hex === undefined || one.digest === hex),
      );
      if (these.length > 0) void check(these);
    },
    commanded(agent) {
      const one = open.get(agent);
      if (!one) return;
      one.commanded = true;
      void work(one);
    },
  });

  function lookAtAll(): void {
    const [now, at] = [performance.now(), Date.now()];
    for (const one of open.values()) {
      if (one.until <= at) one.socket.close(POLICY, 'session_ended');
      else if (now - one.socket.heardAt > SILENT_MS) one.socket.close(GOING_AWAY, 'silent');
      else if (now - one.pingedAt > PING_MS) {
        one.pingedAt = now;
        one.socket.ping();
      }
    }
    if (now - checkedAt < CHECK_MS) return;
    checkedAt = now;
    if (open.size > 0) void check([...open.values()]);
  }

  /** Closes those whose session no longer stands, whatever ended it. While the database is away nothing is closed. */
  async function check(these: readonly Open[]): Promise<void> {
    for (let i = 0; i < these.length; i += CHECKED_AT_ONCE) {
      const part = these.slice(i, i + CHECKED_AT_ONCE);
      const found = await standingSessions(part.map((one) => one.digest)).catch(() => undefined);
      if (!found) return;
      for (const { digest: hex, socket } of part) {
        if (found.revoked.has(hex)) {
          socket.send(JSON.stringify({ ok: false, commands: [], server_time: new Date().toISOString(), revoked: true, pushed: true }));
          socket.close(POLICY, 'agent_revoked');
        } else if (!found.standing.has(hex)) socket.close(POLICY, 'session_ended');
      }
    }
  }

  /** Has web answer what the agent said, and asks for its commands when there are new ones: one after the other. */
  async function work(one: Open): Promise<void> {
    if (one.busy) return;
    one.busy = true;
    one.socket.pause();
    while (!one.socket.closing) {
      const message = one.waiting.shift();
      if (message !== undefined) await answer(one, message);
      else if (one.commanded) {
        one.commanded = false;
        await push(one);
      } else break;
    }
    one.busy = false;
    one.socket.resume();
  }

  async function answer({ socket, ask }: Open, message: string): Promise<void> {
    const answered = await ask({ method: 'POST', path: HEARTBEAT_PATH, added: ['content-type', 'application/json'], body: message });
    if (typeof answered === 'string') {
      socket.send(bareRefusal('dependency_unavailable', "The service can't take heartbeats right now. Try again shortly.", uuidV7()).text);
      return;
    }
    socket.send(answered.text);
    // Whatever may be said again at once would be refused again: the next connection is counted.
    if (answered.status === 429) socket.close(TRY_LATER, 'rate_limit_exceeded');
    else if (answered.status >= 400 && answered.status < 500) socket.close(POLICY, typeOf(answered.text));
  }

  async function push({ socket, ask }: Open): Promise<void> {
    const waiting = await ask({ method: 'GET', path: CONTROL_PATH, added: ['x-sallyport-control', 'commands'] });
    // Otherwise the next heartbeat brings them.
    if (typeof waiting === 'string' || waiting.status !== 200) return;
    if ((JSON.parse(waiting.text) as { commands: unknown[] }).commands.length > 0) socket.send(waiting.text);
  }

  return {
    get size() {
      return open.size;
    },

    async take(req, socket, first, { space, origin }) {
      socket.on('error', () => socket.destroy());
      const { session, headers } = credentialOf(req);
      const ask: Ask = (asked) => callWeb({ ...asked, headers, space, origin });
      if (closing || open.size >= MOST_SOCKETS) return unavailable(socket);
      const before = heard;
      const allowed = await ask({ method: 'GET', path: CONTROL_PATH, added: ['x-sallyport-control', 'open'] });
      if (socket.destroyed) return;
      if (typeof allowed === 'string' || closing) return unavailable(socket);
      if (allowed.status !== 200) return refuse(socket, allowed);
      const { agent, tenant, until } = JSON.parse(allowed.text) as { agent: string; tenant: string; until: string };
      socket.write(switching(req.headers['sec-websocket-key'] as string));
      const opened: Open = {
        ...{ tenant, digest: digest(session).toString('hex'), until: Date.parse(until), ask },
        ...{ pingedAt: performance.now(), waiting: [], commanded: true, busy: false },
        socket: new MessageSocket(socket, {
          mostBytes: MOST_BYTES,
          onMessage(message) {
            if (opened.waiting.push(message) > MOST_WAITING) opened.socket.close(POLICY, 'one message at a time');
            else void work(opened);
          },
          onClosed() {
            if (open.get(agent) === opened) open.delete(agent);
          },
        }),
      };
      const older = open.get(agent);
      open.set(agent, opened);
      opened.socket.start(first);
      // What was queued before the connection was known.
      void work(opened);
      older?.socket.close(POLICY, 'replaced');
      log.debug({ agent }, 'an agent opened its control connection');
      // Something changed while it was asked whether this agent may.
      if (heard !== before) void check([opened]);
    },

    close() {
      closing = true;
      clearInterval(timer);
      for (const { socket } of open.values()) socket.close(RESTART, 'restarting');
    },
  };
}

/** What an agent says of itself, in the words of its calls. A header that came twice is no credential: node joins it with a comma. */
function credentialOf({ headers }: IncomingMessage): { session: string; headers: string[] } {
  const said = (name: string) => String(headers[name] ?? '');
  const session = said('x-svc-agent-token');
  return {
    session,
    headers: ['x-svc-agent-id', said('x-svc-agent-id'), 'x-svc-agent-token', session, 'user-agent', said('user-agent')],
  };
}

const switching = (key: string) =>
  `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${webSocketAccept(key)}\r\n\r\n`;

function unavailable(socket: Duplex): void {
  refuseSocket(
    socket,
    503,
    bareRefusal('dependency_unavailable', "The service can't take connections right now. Try again shortly.", uuidV7()),
  );
}

/** Answers a handshake that becomes no WebSocket, with what web says of it. */
function refuse(socket: Duplex, { status, text, headers }: WebAnswer): void {
  const wait = headers['retry-after'];
  const head = { ...bareHead(text, requestIdIn(headers) ?? uuidV7()), ...(wait !== undefined && { 'Retry-After': wait }) };
  refuseSocket(socket, status, { text, headers: head });
}

/** A reason in a close frame has 123 bytes at most; types of errors are far shorter. */
function typeOf(text: string): string {
  try {
    return String((JSON.parse(text) as { error?: { type?: unknown } }).error?.type ?? '').slice(0, 64);
  } catch {
    return '';
  }
}
