import { NAME_WITH_PLACEHOLDER, textsIn } from '#server/domain/templates/texts.shared.ts';
import type { NodeType } from '../definition.shared.ts';
import { code } from './code.ts';
import { condition } from './condition.ts';
import { delay } from './delay.ts';
import { email } from './email.ts';
import { httpRequest } from './http-request.ts';
import { loop } from './loop.ts';
import { InvalidConfig, type NodeCall, type NodeKind } from './node-call.ts';
import { routeRequest } from './route-request.ts';
import { router } from './router.ts';
import { setResponse } from './set-response.ts';
import { sms } from './sms.ts';
import { transform } from './transform.ts';

/** Runs a node of a type that does something itself; undefined for triggers, error handlers and unknown types. @throws what `faultOf` knows */
export function runNode(call: NodeCall): ReturnType<NodeKind> | undefined {
  const kind = KINDS[call.node.type as keyof typeof KINDS];
  if (kind && kind !== code) assertPlainNames(call.config);
  return kind?.(call);
}

/** Definitions that were published before names with placeholders were refused send nothing. @throws InvalidConfig */
function assertPlainNames(config: Record<string, unknown>): void {
  const found = textsIn(config).find(({ text, place }) => place === 'name' && text.includes('{{'));
  if (found) throw new InvalidConfig(`${found.path.slice(0, 80)} ${NAME_WITH_PLACEHOLDER}.`);
}

/** What each type of node does. The graph runs triggers and error handlers. */
export const KINDS: Record<Exclude<NodeType, 'trigger' | 'error_handler'>, NodeKind> = {
  http_request: httpRequest,
  route_request: routeRequest,
  ...{ email, sms, code, transform, condition, router, loop, delay },
  set_response: setResponse,
};
