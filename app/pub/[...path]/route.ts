import { handleAcme } from '#server/api/acme/handle.ts';
import { isAcmePath } from '#server/api/acme/paths.ts';
import { handlePublicCertificates, isPublicPki } from '#server/api/public-certificates.ts';
import { handlePublicKeys } from '#server/api/public-keys.ts';
import { handlePublicOcsp, isPublicOcsp } from '#server/api/public-ocsp.ts';

export const dynamic = 'force-dynamic';

function mount(req: Request): Promise<Response> {
  const path = new URL(req.url).pathname;
  if (isAcmePath(path)) return handleAcme(req);
  if (isPublicOcsp(path)) return handlePublicOcsp(req);
  return isPublicPki(path) ? handlePublicCertificates(req) : handlePublicKeys(req);
}

export { mount as DELETE, mount as GET, mount as HEAD, mount as OPTIONS, mount as PATCH, mount as POST, mount as PUT };
