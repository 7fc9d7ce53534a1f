// What the upstream client needs of the outside world. The gateway and the web process give it their own connections.

export type WireRequest = {
  url: string;
  method: 'GET' | 'POST' | 'DELETE';
  /** Names and values in turn. */
  headers: readonly string[];
  body?: Buffer | undefined;
  maxBytes: number;
};
export type WireHead = { readonly status: number; header(name: string): string | undefined; readonly streams: boolean };
export type WireAnswer = WireHead & { readonly body: string };
export type WireEvent = { readonly event: string; readonly data: string };
export type WireExchange = { readonly ended: Promise<WireAnswer>; abort(): void };

/** Sends a request; its answer is a body, or a stream whose events come one by one. `ended` rejects with an error that has a `type`. */
export type Wire = (request: WireRequest, handler: { onHead?(head: WireHead): void; onEvent(event: WireEvent): void }) => WireExchange;

/** Where an upstream is, and what it is shown of us. */
export type Upstream = {
  readonly url: string;
  readonly transport: 'streamable_http' | 'sse';
  /** Names and values in turn: the credential that custody injects. Never part of a message. */
  readonly headers: readonly string[];
};

export const MOST_BYTES = 8 * 1024 * 1024;
