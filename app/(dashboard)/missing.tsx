import { cookies, headers } from 'next/headers';
import { MissingPage } from '#components/shell/missing-page.tsx';
import { readSpace, SPACE_COOKIE } from '#components/shell/space-cookie.ts';

/** The answer of an address that no page has, for the frame that stands around it. */
export async function Missing() {
  const [head, jar] = await Promise.all([headers(), cookies()]);
  const [path = '/'] = (head.get('x-page') ?? '/').split('?');
  const [, slug = '', below] = path.split('/');
  const space = below === 'live' || below === 'test' ? below : readSpace(jar.get(SPACE_COOKIE)?.value);
  return <MissingPage path={path} place={slug === 'me' ? null : { slug, space }} />;
}
