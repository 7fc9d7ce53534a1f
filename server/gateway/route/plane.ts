import { authenticate } from '../core/authenticate.ts';
import { isServicePath } from '../core/hosts.ts';
import { definePlane } from '../core/plane.ts';
import { refusalAnswer } from '../core/response-block.ts';
import { noteOutcome } from './circuits.ts';
import { redactedQuery } from './fields/redacted.ts';
import { admit } from './phases/admit.ts';
import { changeFields } from './phases/change-fields.ts';
import { detectLoop } from './phases/detect-loop.ts';
import { findRoute } from './phases/find-route.ts';
import { inspect } from './phases/inspect.ts';
import { limit } from './phases/limit.ts';
import { matchClient } from './phases/match-client.ts';
import { restrict } from './phases/restrict.ts';
import { rewrite } from './phases/rewrite.ts';
import { signUpstream } from './phases/sign-upstream.ts';
import { verifySignature } from './phases/verify-signature.ts';
import { newRouteState, type RouteState } from './route-call.ts';
import { stands } from './stands.ts';

/** Proxied calls of a workspace's routes, in the normative order of phases (interface rule 12 §18). */
export const routePlane = definePlane<RouteState>({
  name: 'route',
  matches: (match) => match.plane === 'tenant' && !isServicePath(match.target),
  newState: newRouteState,
  phases: {
    inspect,
    authenticate,
    find_route: findRoute,
    match_client: matchClient,
    admit,
    restrict,
    detect_loop: detectLoop,
    verify_signature: verifySignature,
    limit,
    rewrite,
    change_fields: changeFields,
    sign_upstream: signUpstream,
  },
  refusalAnswer,
  stands,
  ended(call) {
    const circuit = call.state.config?.circuit;
    if (circuit) noteOutcome(call, circuit);
  },
  logSubject: ({ state: { route, environmentName, forwardPath, query, signatureValid, config } }) => ({
    mode: 'route',
    route,
    environment: environmentName,
    path: forwardPath,
    query: config?.fields?.request && query !== null ? redactedQuery(config.fields.request.query, query) : query,
    signatureValid,
  }),
});
