import { handlePublicCertificates, isPublicPki } from '#server/api/public-certificates.ts';
import { handlePublicKeys } from '#server/api/public-keys.ts';

export const dynamic = 'force-dynamic';

const mount = (req: Request) => (isPublicPki(new URL(req.url).pathname) ? handlePublicCertificates(req) : handlePublicKeys(req));

export { mount as DELETE, mount as GET, mount as HEAD, mount as OPTIONS, mount as PATCH, mount as POST, mount as PUT };
