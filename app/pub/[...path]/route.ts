import { handlePublicKeys } from '#server/api/public-keys.ts';

export const dynamic = 'force-dynamic';

const mount = (req: Request) => handlePublicKeys(req);

export { mount as DELETE, mount as GET, mount as HEAD, mount as OPTIONS, mount as PATCH, mount as POST, mount as PUT };
