import { handleWorkflowHook } from '#server/api/workflow-hooks.ts';

export const dynamic = 'force-dynamic';

const mount = (req: Request) => handleWorkflowHook(req);

export { mount as DELETE, mount as GET, mount as HEAD, mount as OPTIONS, mount as PATCH, mount as POST, mount as PUT };
