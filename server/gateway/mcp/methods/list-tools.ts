import { fault, isFault } from '#server/mcp/errors.ts';
import type { RpcRequest } from '#server/mcp/messages.ts';
import { ownResult } from '#server/mcp/results.ts';
import { PAGE_SIZE } from '#server/mcp/sessions.ts';
import type { ANSWERED } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { answerFault, answerResult } from '../answer.ts';
import { clientOf } from '../links.ts';
import type { McpCall } from '../mcp-call.ts';
import { offersOf } from '../offers.ts';
import { serverInfo } from '../server-info.ts';
import { mintCursor, openCursor } from '../sessions.ts';

const LIST_TTL_MS = 60_000;

/** The tools that this caller may use, 200 at a time. */
export async function listTools(call: McpCall, runtime: Runtime, { params }: RpcRequest): Promise<typeof ANSWERED> {
  const { cursor } = params;
  const after = cursor === undefined ? '' : await openCursor(call, runtime, cursor);
  if (after === undefined) return answerFault(call, fault('invalid_params', 'This cursor is unknown. Begin the list anew.'));
  const found = await offersOf(call, runtime, clientOf(params));
  if (isFault(found)) return answerFault(call, found);
  const left = found.offers.filter(({ name }) => name > after);
  const page = left.slice(0, PAGE_SIZE);
  const last = page.at(-1);
  const result = {
    tools: page.map(({ name, tool }) => ({ ...tool, name })),
    ...(left.length > page.length && last ? { nextCursor: await mintCursor(call, runtime, last.name) } : {}),
    ...(found.unavailable.length > 0 ? { _meta: { 'svc/unavailable': found.unavailable } } : {}),
  };
  const cacheable = call.state.era === 'modern' ? { ttlMs: LIST_TTL_MS, cacheScope: 'private' } : {};
  return answerResult(call, ownResult(call.state.era, { ...result, ...cacheable }, serverInfo(call)));
}
