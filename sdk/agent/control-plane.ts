import { type AgentKeys, signatureHeaders } from './keys.ts';

/** The control plane said no. `type` is that of its error envelope. */
export class ControlPlaneError extends Error {
  readonly status: number;
  readonly type: string;
  readonly retryAfter: number | undefined;
  constructor(status: number, type: string, message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.type = type;
    this.retryAfter = retryAfter;
  }
}

/** The control plane couldn't be reached or didn't answer in its own words. */
export class Unreachable extends Error {}

export type Answer = { status: number; body: unknown; headers: Headers };
export type ControlPlane = {
  apiBase: string;
  /** Without signature: enrolling, and downloads. */
  plain(method: string, path: string, body?: unknown): Promise<Answer>;
  signed(method: string, path: string, body?: unknown): Promise<Answer>;
  withToken(method: string, path: string, token: string, headers?: Record<string, string>, body?: unknown): Promise<Answer>;
};

const TIMEOUT_MS = 20_000;

/** Calls of /agent/v1 at `apiBase`. Redirects are refused: a signed request belongs to one host. */
export function createControlPlane(apiBase: string, keys?: AgentKeys): ControlPlane {
  const base = apiBase.replace(/\/+$/, '');
  async function send(method: string, path: string, headers: Record<string, string>, body: string): Promise<Answer> {
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, {
        method,
        headers: { accept: 'application/json', ...(body === '' ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === '' ? {} : { body }),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      throw new Unreachable(`${base} can’t be reached: ${reasonOf(error)}`);
    }
    const text = await response.text().catch(() => '');
    const parsed = parse(text);
    if (response.ok || response.status === 304) return { status: response.status, body: parsed ?? text, headers: response.headers };
    const { error } = (parsed ?? {}) as { error?: { type?: unknown; message?: unknown } };
    if (typeof error?.type !== 'string') throw new Unreachable(`${base} answered ${response.status} without an error of the service.`);
    const after = Number(response.headers.get('retry-after'));
    throw new ControlPlaneError(response.status, error.type, String(error.message ?? error.type), after > 0 ? after : undefined);
  }
  return {
    apiBase: base,
    plain: (method, path, body) => send(method, path, {}, textOf(body)),
    signed(method, path, body) {
      if (!keys) throw new Error('This agent isn’t enrolled.');
      const content = textOf(body);
      return send(method, path, signatureHeaders(keys, { method, path, body: content }), content);
    },
    withToken: (method, path, token, headers = {}, body) =>
      send(method, path, { ...headers, 'x-svc-agent-token': token, ...(keys ? { 'x-svc-agent-id': keys.agentId } : {}) }, textOf(body)),
  };
}

const textOf = (body: unknown) => (body === undefined ? '' : JSON.stringify(body));

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : String(cause);
}
