import { assertNotForeign } from '#server/auth/same-origin.ts';
import { notificationStream } from '#server/domain/notifications/service.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { callOf, dashboardContext } from './context.ts';
import { refused } from './dashboard.ts';

/** What is new in a person's inbox, as it comes. An EventSource cannot set headers, so the workspace stands in the query. */
export async function handleNotificationStream(req: Request): Promise<Response> {
  let requestId = newId();
  try {
    assertNotForeign(req.headers);
    const call = callOf(req);
    const context = dashboardContext({ ...call, workspace: new URL(req.url).searchParams.get('workspace') ?? call.workspace });
    requestId = context.request_id;
    return await notificationStream(await context.member({ space: false }), req);
  } catch (error) {
    return refused(asRefusal(error), requestId);
  }
}
