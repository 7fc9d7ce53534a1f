import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { frameOf } from '#server/trpc/frame.ts';

export const metadata: Metadata = { title: 'Shared secret', referrer: 'no-referrer' };

type Query = Promise<Partial<Record<'space' | 'token', string | string[]>>>;

/** Where the link of a share leads: to the workspace that should use the secret. Opening it uses nothing up. */
export default async function SharedSecretPage({ searchParams }: { searchParams: Query }) {
  const { space: asked, token } = await searchParams;
  if (typeof token !== 'string') redirect('/');
  const space = asked === 'test' ? 'test' : 'live';
  const own = `/shared-secret?space=${space}&token=${encodeURIComponent(token)}`;
  const frame = await frameOf(await headers());
  if (!frame) redirect(`/signin?next=${encodeURIComponent(own)}`);
  const pageIn = (slug: string) => `/${slug}/${space}/shared-secrets?token=${encodeURIComponent(token)}`;
  const able = frame.workspaces.filter(({ role }) => role === 'owner' || role === 'admin' || role === 'editor');
  const [only] = able;
  if (only && able.length === 1) redirect(pageIn(only.slug));
  if (!only)
    return (
      <AuthLayout title="A secret is shared with you">
        <Callout tone="warn" title="No workspace of yours can accept it">
          Accepting a share takes the role Owner, Admin or Editor. Ask for it in your workspace, or create a workspace, then open the link
          again.
        </Callout>
      </AuthLayout>
    );
  return (
    <AuthLayout title="A secret is shared with you" description="Which workspace should use it?">
      <div className="flex flex-col gap-3">
        {able.map(({ slug, name }) => (
          <LinkButton key={slug} href={pageIn(slug)} size="lg" className="w-full">
            {name}
          </LinkButton>
        ))}
      </div>
    </AuthLayout>
  );
}
