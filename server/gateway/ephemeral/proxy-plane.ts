import { authenticate } from '../core/authenticate.ts';
import { definePlane } from '../core/plane.ts';
import { refusalAnswer } from '../core/response-block.ts';
import { ended } from './ended.ts';
import { type EphemeralState, newEphemeralState } from './ephemeral-call.ts';
import { identifyByCredential } from './identify.ts';
import { loggedCall } from './logged-call.ts';
import { address } from './phases/address.ts';
import { admit } from './phases/admit.ts';
import { findCredential } from './phases/find-credential.ts';
import { inspect } from './phases/inspect.ts';
import { limit } from './phases/limit.ts';
import { open } from './phases/open.ts';
import { readBody } from './phases/read-body.ts';
import { resolveHost } from './phases/resolve-host.ts';
import { send } from './phases/send.ts';

/** `ANY /v1/proxy`: one call to an upstream that the caller names, in the order of interface rule 33 §5. */
export const proxyPlane = definePlane<EphemeralState>({
  name: 'proxy',
  matches: (match) => match.plane === 'api' && /^\/v1\/proxy(?:\?|$)/.test(match.target),
  newState: newEphemeralState,
  identify: identifyByCredential,
  phases: {
    inspect,
    authenticate,
    admit,
    limit,
    address,
    read_body: readBody,
    find_credential: findCredential,
    resolve_host: resolveHost,
    open,
    send,
  },
  refusalAnswer,
  logSubject: (call) => loggedCall(call, 'ephemeral'),
  ended,
});
