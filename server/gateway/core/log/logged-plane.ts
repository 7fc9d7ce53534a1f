import type { Call } from '../call.ts';

export type Proxied = {
  readonly credential_mode: 'none' | 'transit' | 'escrow';
  readonly mode: 'template' | 'transparent';
  readonly secret_id: string | null;
  readonly token_count: number;
};

/** What a call was about, in the words of its plane. */
export type LogSubject = {
  /** `proxy_mode` of calls that are no test requests. */
  readonly mode: string;
  readonly route: { readonly id: string; readonly slug: string | null; readonly name: string } | null;
  /** As the caller asked for it; '' for none. */
  readonly environment: string;
  /** Path and query as they are kept when the caller may be told that the route exists. */
  readonly path: string;
  readonly query: string | null;
  /** Whether the signature of the call was good; null or absent when none was required. */
  readonly signatureValid?: boolean | null;
  /** The path is the upstream's, though no route stands for it. */
  readonly routeless?: boolean;
  /** Kept with the trace: how a call to a host that its caller named was authenticated there. */
  readonly proxied?: Proxied;
};

/** What the request log asks of a call's plane. */
export type LoggedPlane = {
  /** In their order, as the trace names them. */
  readonly phaseNames: readonly string[];
  /** Index of the phase that counts a call against the plan; beyond the last when there is none. */
  readonly limitPhase: number;
  logSubject(call: Call): LogSubject;
};
