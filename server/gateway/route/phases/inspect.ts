import { isUtf8 } from 'node:buffer';
import { checkForwardPath } from '../../core/forward-path.ts';
import { readGrpc } from '../../core/grpc/grpc.ts';
import { readHeadFields } from '../../core/head-fields.ts';
import { ALL_METHODS, isAccepted } from '../../core/methods.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { RouteCall, RouteState } from '../route-call.ts';

/** Steps 1 and 3: reads the head once, finds the route reference and the forward path, and refuses what no upstream should see. */
export function inspect(call: RouteCall): Refused | undefined {
  readHeadFields(call, readOwnHeader);
  const { state } = call;
  const fault = call.http2 ? readGrpc(call) : undefined;
  if (fault) return fault;
  if (!isAccepted(call.method))
    return refused('method_not_allowed', `The method ${call.method.slice(0, 32)} is not supported.`, { allow: ALL_METHODS });
  const mark = call.target.indexOf('?');
  const path = mark < 0 ? call.target : call.target.slice(0, mark);
  state.query = mark < 0 ? null : call.target.slice(mark + 1);
  return splitPath(state, path) ?? checkForwardPath(state.forwardPath, call.encodesSegments);
}

/** Forms A, B and C (interface rule 12 §3). A path that names no route leaves the reference null. */
function splitPath(state: RouteState, path: string): Refused | undefined {
  const underApi = path === '/api' || path.startsWith('/api/');
  if (state.routeHeader !== '') {
    state.reference = state.routeHeader;
    state.forwardPath = underApi ? path.slice(4) : path;
    return undefined;
  }
  if (underApi) {
    state.forwardPath = path.slice(4);
    return undefined;
  }
  const slash = path.indexOf('/', 1);
  const segment = slash < 0 ? path.slice(1) : path.slice(1, slash);
  state.forwardPath = slash < 0 ? '' : path.slice(slash);
  if (segment === '') return undefined;
  if (!segment.includes('%')) {
    state.reference = segment;
    return undefined;
  }
  try {
    state.reference = decodeURIComponent(segment);
  } catch {
    return refused('invalid_path', 'The first path segment is not valid percent-encoded UTF-8.');
  }
  return undefined;
}

function readOwnHeader({ state }: RouteCall, name: string, value: string): void {
  if (name === 'x-svc-route') state.routeHeader = asUtf8(value.trim());
  else if (name === 'x-svc-environment') state.environmentHeader = value.trim();
}

/** Header bytes arrive as one character each; names of routes beyond ASCII are sent as UTF-8. */
function asUtf8(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : text;
}
