import { OWN_SLUG } from '#server/domain/mcp-servers/names.shared.ts';
import type { InProcess } from '../core/in-process.ts';
import { definePlane, type Phase, type Plane } from '../core/plane.ts';
import type { Runtime } from '../core/runtime.ts';
import { aiRefusalAnswer } from '../governance/envelope.ts';
import { leaveAgent } from '../governance/limits.ts';
import { corsFields, requestRefusalAnswer } from './answer.ts';
import { baseChallenge } from './governed-plane.ts';
import { type McpState, newMcpState } from './mcp-call.ts';
import { authenticate } from './phases/authenticate.ts';
import { describe } from './phases/describe.ts';
import { guard } from './phases/guard.ts';
import { inspect } from './phases/inspect.ts';
import { limit } from './phases/limit.ts';
import { serve } from './phases/serve.ts';
import { record } from './record.ts';
import { apiMetadataUrl, documentOf, MCP_PATH, placeOf } from './resources.ts';

/** Whether a target, with or without a query, is this plane's: its messages on both kinds of host, its metadata on those of workspaces. */
const servesTarget = (target: string, onWorkspaceHost: boolean): boolean => {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  // The Management API's own server is web's, which has the operations.
  if (path === `${MCP_PATH}/${OWN_SLUG}`) return onWorkspaceHost;
  return placeOf(path) !== undefined || (onWorkspaceHost && documentOf(path) !== undefined);
};

/** Model Context Protocol (interface rule 52): tools of remote servers, and of the workspace's own routes, which are called through `routes`. */
export function mcpPlane(routes: (runtime: Runtime) => InProcess): Plane {
  const start: Phase<McpState> = (call, runtime) => {
    call.state.routes = routes(runtime);
    return undefined;
  };
  return definePlane<McpState>({
    name: 'mcp',
    // One plane to callers: the interface knows route, proxy and ai.
    shownAs: 'ai',
    matches: (match) => (match.plane === 'tenant' || match.plane === 'api') && servesTarget(match.target, match.plane === 'tenant'),
    newState: newMcpState,
    phases: { start, describe, inspect, authenticate, guard, limit, serve },
    refusalAnswer(call, refusal) {
      const answer = call.state.id === null ? aiRefusalAnswer(call, refusal) : requestRefusalAnswer(call, refusal);
      answer.head.fields.push(...corsFields(call));
      return answer;
    },
    logSubject: ({ target, state: { server } }) => ({
      mode: 'mcp',
      route: null,
      environment: server?.slug ?? '',
      path: pathOf(target),
      query: null,
    }),
    challenge(space, target) {
      const place = placeOf(pathOf(target)) ?? { kind: 'nothing' };
      return baseChallenge(apiMetadataUrl(space, place));
    },
    ended(call) {
      leaveAgent(call);
      record(call);
    },
  });
}

/** Without the query, in which careless callers put credentials. */
function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
