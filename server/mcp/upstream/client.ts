import { setImmediate } from 'node:timers/promises';
import { grouped } from '#server/kernel/numbers.ts';
import { isObject, type Params, type RpcId } from '../messages.ts';
import type { HeaderParameter } from '../parameter-headers.ts';
import { parameterHeaders } from '../parameter-headers.ts';
import { eventCall } from './event-transport.ts';
import { initialize, legacyExchange, type UpstreamSession } from './legacy.ts';
import { CALL_TIMING, SHORT_TIMING, type Timing } from './message-exchange.ts';
import { type ClientInfo, modernExchange } from './modern.ts';
import { probe } from './probe.ts';
import type { Reply } from './reply.ts';
import { SessionStreams } from './session-streams.ts';
import type { Upstream, Wire } from './wire.ts';

/** How an upstream is spoken to. */
export type Link =
  | { readonly kind: 'modern' }
  | { readonly kind: 'legacy'; readonly session: UpstreamSession }
  /** HTTP with SSE: each request shakes hands anew. */
  | { readonly kind: 'events' };

export type Failed = Exclude<Reply, { kind: 'result' }>;

export type UpstreamCallRequest = {
  readonly id: RpcId;
  readonly method: string;
  readonly params: Params;
  readonly client: ClientInfo;
  /** Of a modern client, as far as an upstream may use them. */
  readonly capabilities?: Params;
  readonly headerParameters?: readonly HeaderParameter[];
  readonly timing?: Timing;
  readonly signal?: AbortSignal | undefined;
  onNotification?(method: string, params: Params): void;
};

/** Names the upstream in the memory of eras: another URL may be another server. */
export type UpstreamKey = string;

const REMEMBERED_MS = 24 * 3_600_000;
const MOST_REMEMBERED = 10_000;

/** Talks to MCP servers of both eras and remembers for a day which one is of which (interface rule 52 §3.2). */
export class UpstreamClient {
  readonly #eras = new Map<UpstreamKey, { era: 'legacy' | 'modern'; until: number }>();

  readonly #streams = new SessionStreams();

  eraOf(key: UpstreamKey, now = Date.now()): 'legacy' | 'modern' | undefined {
    const known = this.#eras.get(key);
    return known && known.until > now ? known.era : undefined;
  }

  forget(key: UpstreamKey): void {
    this.#eras.delete(key);
  }

  /** A link to the upstream; of a legacy one with a new session. */
  async open(wire: Wire, upstream: Upstream, key: UpstreamKey, client: ClientInfo, id: RpcId, version?: string): Promise<Link | Failed> {
    if (upstream.transport === 'sse') return { kind: 'events' };
    const known = this.eraOf(key);
    if (known === 'modern') return { kind: 'modern' };
    if (known === 'legacy') {
      const initialized = await initialize(wire, upstream, client, id, version);
      if (!('kind' in initialized)) return { kind: 'legacy', session: initialized.session };
      // It may have been replaced by a server that has no handshake any more.
      if (initialized.kind !== 'error') return initialized;
      this.forget(key);
    }
    const probed = await probe(wire, upstream, client, id);
    if ('kind' in probed) return probed;
    this.#remember(key, probed.era);
    return probed.era === 'modern' ? { kind: 'modern' } : { kind: 'legacy', session: probed.session };
  }

  /** One request over a link. Never rejects, and never sends anything twice. */
  async request(wire: Wire, upstream: Upstream, key: UpstreamKey, link: Link, request: UpstreamCallRequest): Promise<Reply> {
    const { id, method, params, client, signal, timing = CALL_TIMING } = request;
    const hear = (name: string, given: Params) => request.onNotification?.(name, given);
    switch (link.kind) {
      case 'events': {
        const call = { id, method, params: withoutReserved(params), client };
        return (await eventCall(wire, upstream, call, hear, timing, signal)).reply;
      }
      case 'legacy': {
        const outgoing = { id, method, params: withoutReserved(params) };
        const exchanged = () => legacyExchange(wire, upstream, link.session, outgoing, hear, timing, signal);
        // Only a running tool has something to ask.
        return (await (method === 'tools/call' ? this.#streams.during(wire, upstream, link.session, exchanged) : exchanged())).reply;
      }
      case 'modern': {
        const args = isObject(params.arguments) ? params.arguments : {};
        const modern = { id, method, params, client, capabilities: request.capabilities ?? {} };
        const mirrored = parameterHeaders(request.headerParameters ?? [], args);
        const { reply } = await modernExchange(wire, upstream, { ...modern, parameterHeaders: mirrored }, hear, timing, signal);
        // A server that doesn't know the era any more answers in words of its own; the next call asks it again.
        if (reply.kind === 'fault' && reply.code === 'upstream_invalid_response' && reply.status >= 400) this.forget(key);
        return reply;
      }
    }
  }

  /** The whole list of tools, or why there is none: a list that is too long isn't cut. Reading has no effect, so a failed page is asked for once more. */
  async listTools(
    wire: Wire,
    upstream: Upstream,
    key: UpstreamKey,
    link: Link,
    request: Omit<UpstreamCallRequest, 'method' | 'params'>,
  ): Promise<unknown[] | Failed> {
    const tools: unknown[] = [];
    let characters = 0;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const ask = () =>
        this.request(wire, upstream, key, link, {
          timing: SHORT_TIMING,
          ...request,
          id: `${request.id}-${page}`,
          method: 'tools/list',
          params: cursor === undefined ? {} : { cursor },
        });
      let reply = await ask();
      if (reply.kind === 'fault' && reply.code !== 'upstream_auth_failed' && reply.code !== 'upstream_blocked') reply = await ask();
      if (reply.kind !== 'result') return reply;
      const { tools: listed, nextCursor } = reply.result;
      if (!Array.isArray(listed))
        return { kind: 'fault', code: 'upstream_invalid_response', message: 'The MCP server sent no list of tools.', status: 200 };
      if (tools.length + listed.length > MOST_TOOLS) return LIST_TOO_LONG;
      // The page was parsed in this turn of the event loop.
      await setImmediate();
      characters += JSON.stringify(listed).length;
      if (characters > MOST_CHARACTERS) return LIST_TOO_LARGE;
      tools.push(...listed);
      if (nextCursor === undefined || nextCursor === null) return tools;
      // Taken for the end, it would cut the list.
      if (typeof nextCursor !== 'string')
        return { kind: 'fault', code: 'upstream_invalid_response', message: 'The MCP server sent a cursor that is no text.', status: 200 };
      if (nextCursor.length > LONGEST_CURSOR) return CURSOR_TOO_LONG;
      cursor = nextCursor;
    }
    return LIST_TOO_LONG;
  }

  #remember(key: UpstreamKey, era: 'legacy' | 'modern'): void {
    if (this.#eras.size >= MOST_REMEMBERED) this.#eras.delete(this.#eras.keys().next().value as string);
    this.#eras.set(key, { era, until: Date.now() + REMEMBERED_MS });
  }
}

const MOST_PAGES = 20;
const MOST_TOOLS = 2_000;
/** Of all pages together: each may be as large as any answer. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
const LONGEST_CURSOR = 4_096;
const tooLarge = (message: string): Failed => ({ kind: 'fault', code: 'result_too_large', message, status: 200 });
const LIST_TOO_LARGE = tooLarge('The list of tools of the MCP server exceeds 8 MiB over all its pages.');
const LIST_TOO_LONG = tooLarge(
  `The MCP server lists more than ${grouped(MOST_TOOLS)} tools, or has more than ${MOST_PAGES} pages of them.`,
);
const CURSOR_TOO_LONG = tooLarge(`A cursor of the MCP server's list of tools exceeds ${grouped(LONGEST_CURSOR)} characters.`);

/** A legacy upstream gets no members of `_meta` that only the modern era knows. */
function withoutReserved(params: Params): Params {
  if (!isObject(params._meta)) return params;
  const kept = Object.entries(params._meta).filter(([key]) => !key.startsWith('io.modelcontextprotocol/'));
  const { _meta, ...rest } = params;
  return kept.length > 0 ? { ...rest, _meta: Object.fromEntries(kept) } : rest;
}
