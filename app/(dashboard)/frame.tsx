import { cookies, headers } from 'next/headers';
import { notFound, redirect } from 'next/navigation';
import type { ReactNode } from 'react';
import { Frame } from '#components/shell/frame.tsx';
import { withKnownPages } from '#components/shell/page-choices.ts';
import { RAIL_COOKIE, readRailCollapsed } from '#components/shell/rail-cookie.ts';
import { SHRINKING_COOKIE, shrinkingMark } from '#components/shell/retention-notice.ts';
import { readSpace, SPACE_COOKIE } from '#components/shell/space-cookie.ts';
import { PreferencesProvider } from '#components/theme/preferences-provider.tsx';
import { DashboardData } from '#components/trpc/provider.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { addressesOf, frameOf, sealOf, shrinkingOf } from '#server/trpc/frame.ts';

/** Signed in and a member, or sent where that can be mended; then the frame around a page. `slug` null: the person's own pages. */
export async function DashboardFrame({
  slug,
  space,
  partitioned,
  children,
}: {
  slug: string | null;
  space: Space;
  partitioned: boolean;
  children: ReactNode;
}) {
  const [head, jar] = await Promise.all([headers(), cookies()]);
  const frame = await frameOf(head);
  // Back to this page afterwards: what was typed on it waits there.
  if (!frame) redirect(`/signin?next=${encodeURIComponent(head.get('x-page') ?? '/')}`);
  const wanted = slug ?? frame.active;
  if (!wanted) redirect('/onboarding');
  const current = frame.workspaces.find((w) => w.slug === wanted);
  if (!current) notFound();
  // Its calls would all be refused: the way in is to add a factor.
  if (slug !== null && frame.needing_factor.includes(current.slug)) redirect(`/me/security?required=${current.slug}`);
  const [windows, seal] = await Promise.all([shrinkingOf(current.id), sealOf(current)]);
  const hidden = jar.get(SHRINKING_COOKIE)?.value === shrinkingMark(current.slug, windows);
  const { csrf, secret_fields } = frame;
  const scope = {
    slug: current.slug,
    space,
    csrf,
    secret_fields,
    role: current.role,
    reveal_secrets: current.reveal_secrets,
    person: frame.user.id,
    email_verified: frame.email_verified,
    ...addressesOf(current.slug, space),
  };
  return (
    <DashboardData key={`${current.slug}/${space}`} scope={scope}>
      <PreferencesProvider initial={{ ...withKnownPages(frame.preferences), date_format: frame.date_format }}>
        <Frame
          workspaces={frame.workspaces}
          current={current}
          space={space}
          partitioned={partitioned}
          lastSpace={readSpace(jar.get(SPACE_COOKIE)?.value)}
          shrinking={{ windows, hidden }}
          seal={seal}
          user={frame.user}
          news={frame.news}
          railCollapsed={readRailCollapsed(jar.get(RAIL_COOKIE)?.value)}
        >
          {children}
        </Frame>
      </PreferencesProvider>
    </DashboardData>
  );
}
