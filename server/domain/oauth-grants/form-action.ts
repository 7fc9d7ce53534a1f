import { sql } from '#server/platform/sql.ts';
import { handleDigest, isHandle } from './handles.ts';
import { formActionSource } from './redirect-host.ts';

/**
 * The origin that the form of a consent page leads to, for the Content-Security-Policy of that page; null where a form leads nowhere else. Without Prisma:
 * the security headers of pages are made before anything of the page is loaded.
 */
export async function formActionOf(handle: string): Promise<string | null> {
  if (!isHandle(handle)) return null;
  const { rows } = await sql().query<{ redirect_uri: string }>({
    name: 'oauth-form-action',
    text: 'select redirect_uri from oauth_auth_requests where handle_digest = $1 and decided_at is null',
    values: [handleDigest(handle)],
  });
  return rows[0] ? formActionSource(rows[0].redirect_uri) : null;
}
