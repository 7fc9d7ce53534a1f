import { handleAgents } from '#server/api/agents/handle.ts';

export const dynamic = 'force-dynamic';

const mount = (req: Request) => handleAgents(req);

export { mount as DELETE, mount as GET, mount as HEAD, mount as OPTIONS, mount as PATCH, mount as POST, mount as PUT };
