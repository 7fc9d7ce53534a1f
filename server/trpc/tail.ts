import { assertNotForeign } from '#server/auth/same-origin.ts';
import { tailResponse } from '#server/domain/request-logs/service.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { callOf, dashboardContext } from './context.ts';
import { refused } from './dashboard.ts';

/** The live tail of a space's calls. An EventSource cannot set headers, so workspace and space stand in the query. */
export async function handleTail(req: Request): Promise<Response> {
  let requestId = newId();
  try {
    assertNotForeign(req.headers);
    const { searchParams } = new URL(req.url);
    const call = callOf(req);
    const space = searchParams.get('space');
    const context = dashboardContext({
      ...call,
      workspace: searchParams.get('workspace') ?? call.workspace,
      space: space === 'live' || space === 'test' ? space : call.space,
    });
    requestId = context.request_id;
    return await tailResponse(await context.member({ space: true }), req);
  } catch (error) {
    return refused(asRefusal(error), requestId);
  }
}
