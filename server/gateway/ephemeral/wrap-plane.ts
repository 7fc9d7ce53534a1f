import { within } from '../core/hosts.ts';
import { definePlane } from '../core/plane.ts';
import { refusalAnswer } from '../core/response-block.ts';
import { ended } from './ended.ts';
import { type EphemeralState, newEphemeralState } from './ephemeral-call.ts';
import { loggedCall } from './logged-call.ts';
import { open } from './phases/open.ts';
import { readBody } from './phases/read-body.ts';
import { resolveHost } from './phases/resolve-host.ts';
import { send } from './phases/send.ts';
import { admitToken } from './wrap/admit.ts';
import { identifyByToken } from './wrap/identify.ts';
import { inspect } from './wrap/inspect.ts';
import { limit } from './wrap/limit.ts';
import { openHost } from './wrap/open-host.ts';

/** Calls by a gateway token: `/wg/{token}/{host}/…`, and `{token}.wrap.…` where the operator serves it (interface rule 33 §8.3). */
export const wrapPlane = definePlane<EphemeralState>({
  name: 'proxy',
  matches: (match) => match.plane === 'wrap' || (match.plane === 'api' && within('/wg', match.target)),
  newState: newEphemeralState,
  identify: identifyByToken,
  phases: { inspect, admit: admitToken, limit, open_host: openHost, read_body: readBody, resolve_host: resolveHost, open, send },
  refusalAnswer,
  logSubject: (call) => loggedCall(call, 'wrap_gateway'),
  ended,
});
