import type { Call } from '../core/call.ts';
import type { Refused } from '../core/refusal.ts';
import type { CallConfig, Environment, Route } from '../snapshot/model.ts';
import type { Resolution } from '../templates/resolution.ts';
import type { TestRequest } from './test-requests/test-request.ts';

export type RouteCall = Call<RouteState>;
export type RouteState = ReturnType<typeof newRouteState>;

/** What the phases of the route plane note of a call. */
export function newRouteState() {
  return {
    test: null as TestRequest | null,

    // inspect
    routeHeader: '',
    environmentHeader: '',
    /** null: the path names no route. */
    reference: null as string | null,
    forwardPath: '',
    /** Without `?`; null when there is none. */
    query: null as string | null,

    // find_route
    route: null as Route | null,
    environment: null as Environment | null,
    config: null as CallConfig | null,
    /** Why there is nothing to serve, told to authenticated callers only. */
    lookupFault: null as Refused | null,
    environmentName: '',

    // verify_signature
    /** Null: no signature was required. */
    signatureValid: null as boolean | null,
    /** The whole body is in `call.body`, or there is none. */
    bodyRead: false,

    // rewrite
    /** Until the call is signed for its upstream. */
    resolution: null as Resolution | null,
  };
}
