import type { FaultType } from './faults.ts';

/** How one attempt at an upstream ended, for whatever judges the upstream's health. */
export type UpstreamOutcome =
  /** Nothing was sent: we refused the call, or its caller went away before the upstream answered. */
  | { readonly kind: 'unsent' }
  /** The upstream answered, with this status. */
  | { readonly kind: 'answered'; readonly status: number }
  /** The answer didn't come, or broke off. */
  | { readonly kind: 'fault'; readonly type: FaultType };

/** `unknown`: the outcome says nothing about the upstream, so it neither opens a circuit nor closes one. */
export type Health = 'well' | 'failing' | 'unknown';

/** What an outcome says about the upstream. `isFailure` decides which statuses are failures. */
export function healthOf(outcome: UpstreamOutcome, isFailure: (status: number) => boolean): Health {
  switch (outcome.kind) {
    case 'unsent':
      return 'unknown';
    case 'answered':
      return isFailure(outcome.status) ? 'failing' : 'well';
    case 'fault':
      return OF_FAULTS[outcome.type];
  }
}

/** Total, so that a new fault doesn't compile without a class. Names that don't resolve are `upstream_unreachable`. */
const OF_FAULTS: Readonly<Record<FaultType, Health>> = {
  upstream_unreachable: 'failing',
  upstream_tls_error: 'failing',
  upstream_protocol_error: 'failing',
  upstream_timeout: 'failing',
  // Our own limits, rules and mistakes, and what callers do.
  upstream_not_allowed: 'unknown',
  upstream_response_too_large: 'unknown',
  concurrency_limit_exceeded: 'unknown',
  route_misconfigured: 'unknown',
  aborted: 'unknown',
  internal_error: 'unknown',
};
