import type { Call } from '../call.ts';

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
};

/** What the request log asks of a call's plane. */
export type LoggedPlane = {
  /** In their order, as the trace names them. */
  readonly phaseNames: readonly string[];
  /** Index of the phase that counts a call against the plan; beyond the last when there is none. */
  readonly limitPhase: number;
  logSubject(call: Call): LogSubject;
};
