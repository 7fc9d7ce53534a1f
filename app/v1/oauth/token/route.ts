import { handle } from '#server/api/handle.ts';
import { exchangeEndpoint } from '#server/oauth/capability-token.ts';

export const dynamic = 'force-dynamic';

/** On the host of a workspace; elsewhere there is no such path. */
const mount = (req: Request) => {
  const tenant = req.headers.get('x-sallyport-plane') === 'tenant' ? req.headers.get('x-sallyport-tenant') : null;
  return tenant === null ? handle(req) : exchangeEndpoint(req, tenant);
};

export { mount as DELETE, mount as GET, mount as HEAD, mount as OPTIONS, mount as PATCH, mount as POST, mount as PUT };
