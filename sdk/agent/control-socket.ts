import { type ControlPlane, ControlPlaneError, Unreachable } from './control-plane.ts';
import type { HeartbeatAnswer } from './protocol.ts';
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from './tunnel.ts';

// Heartbeats over a connection that stays open, by which commands and a revocation arrive at once. It is optional: without it they go by POST.

export type ControlOptions = {
  controlPlane: Pick<ControlPlane, 'apiBase'>;
  agentId: string;
  /** Of the current session; undefined while there is none. */
  token(): string | undefined;
  /** Commands, or the end, that the control plane sent without being asked. */
  onPushed(answer: HeartbeatAnswer): void;
  log?: ((message: string) => void) | undefined;
};
export type ControlConnection = {
  /** Sends a heartbeat. Undefined without a connection of the current session: the caller uses POST. @throws ControlPlaneError, Unreachable */
  beat(heartbeat: unknown): Promise<HeartbeatAnswer> | undefined;
  close(): void;
};

const CONTROL_ANSWER_MS = 20_000;

type Waiting = { resolve(answer: HeartbeatAnswer): void; reject(error: Error): void };
/** As Node has it since 22, which takes headers too. */
type SocketMaker = new (url: URL, options: { headers: Record<string, string> }) => WebSocket;

/** Keeps a connection open until it is closed. One that was lost, or whose session ended, is opened again, later and later while that fails. */
export function startControlConnection(options: ControlOptions): ControlConnection {
  const { WebSocket: Maker } = globalThis as unknown as { WebSocket?: SocketMaker };
  let socket: WebSocket | undefined;
  let used: string | undefined;
  let waiting: Waiting | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pause = FIRST_PAUSE_MS;
  let closed = Maker === undefined;

  function open(): void {
    used = options.token();
    if (closed || Maker === undefined) return;
    if (used === undefined) {
      later();
      return;
    }
    const url = new URL('/agent/v1/control', options.controlPlane.apiBase);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const mine = new Maker(url, { headers: { 'x-svc-agent-id': options.agentId, 'x-svc-agent-token': used } });
    socket = mine;
    mine.addEventListener('message', ({ data }) => received(String(data)));
    mine.addEventListener('error', () => undefined);
    mine.addEventListener('close', ({ code, reason }) => {
      if (socket !== mine) return;
      socket = undefined;
      waiting?.reject(new Unreachable('the control connection was lost'));
      options.log?.(`The control connection is closed: ${code}${reason ? ` ${reason}` : ''}`);
      // Somebody else has this agent's session: to and fro would be endless.
      if (reason === 'replaced') pause = LONGEST_PAUSE_MS;
      later();
    });
  }

  function later(): void {
    if (closed) return;
    clearTimeout(timer);
    timer = setTimeout(open, pause * (0.5 + Math.random() / 2));
    timer.unref();
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }

  /** The other end may be gone: its close frame isn't waited for. */
  function drop(mine: WebSocket): void {
    mine.close(1000);
    if (socket !== mine) return;
    socket = undefined;
    later();
  }

  function received(text: string): void {
    const message = controlMessage(text);
    const { error } = message ?? {};
    if (message?.pushed === true) options.onPushed(message as HeartbeatAnswer);
    else if (error) waiting?.reject(new ControlPlaneError(CONTROL_STATUS[error.type] ?? 400, error.type, error.message));
    else if (message) waiting?.resolve(message as HeartbeatAnswer);
    pause = FIRST_PAUSE_MS;
  }

  open();
  return {
    beat(heartbeat) {
      if (socket?.readyState !== 1 || waiting) return undefined;
      if (used !== options.token()) {
        // The session was renewed: the next connection is of the new one.
        drop(socket);
        return undefined;
      }
      const mine = socket;
      const asked = new Promise<HeartbeatAnswer>((resolve, reject) => {
        waiting = { resolve, reject };
        mine.send(JSON.stringify(heartbeat));
      });
      const late = setTimeout(() => {
        waiting?.reject(new Unreachable('the control connection doesn’t answer'));
        drop(mine);
      }, CONTROL_ANSWER_MS);
      return asked.finally(() => {
        clearTimeout(late);
        waiting = undefined;
      });
    },
    close() {
      closed = true;
      clearTimeout(timer);
      socket?.close(1000);
    },
  };
}

const CONTROL_STATUS: Readonly<Record<string, number>> = {
  agent_revoked: 401,
  invalid_token: 401,
  rate_limit_exceeded: 429,
  dependency_unavailable: 503,
};

type Message = Partial<HeartbeatAnswer> & { error?: { type: string; message: string } };
function controlMessage(text: string): Message | undefined {
  try {
    return JSON.parse(text) as Message;
  } catch {
    return undefined;
  }
}
