import type { NodeType } from '../definition.shared.ts';
import { code } from './code.ts';
import { condition } from './condition.ts';
import { delay } from './delay.ts';
import { email } from './email.ts';
import { httpRequest } from './http-request.ts';
import { loop } from './loop.ts';
import type { NodeKind } from './node-call.ts';
import { routeRequest } from './route-request.ts';
import { router } from './router.ts';
import { setResponse } from './set-response.ts';
import { sms } from './sms.ts';
import { transform } from './transform.ts';

/** What each type of node does. Triggers and error handlers do nothing themselves: the graph runs them. */
export const KINDS: Record<Exclude<NodeType, 'trigger' | 'error_handler'>, NodeKind> = {
  http_request: httpRequest,
  route_request: routeRequest,
  ...{ email, sms, code, transform, condition, router, loop, delay },
  set_response: setResponse,
};
