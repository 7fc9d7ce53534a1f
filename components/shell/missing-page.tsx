'use client';

import { usePathname } from 'next/navigation';
import { useScope } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { ErrorPage } from './error-page.tsx';
import { activeItem, hrefOf } from './navigation.ts';

/** Inside the frame, where an address leads to no page: which address, and the nearest page there is. */
export function MissingPage() {
  const pathname = usePathname();
  const place = useScope();
  const near = activeItem(pathname, place);
  return (
    <ErrorPage
      inset
      code="404"
      title="There is no such page"
      actions={
        <>
          {near && (
            <LinkButton variant="primary" href={hrefOf(near, place)}>
              Go to {near.label}
            </LinkButton>
          )}
          <LinkButton variant={near ? 'secondary' : 'primary'} href={`/${place.slug}/${place.space}`}>
            Go to Home
          </LinkButton>
        </>
      }
    >
      Nothing stands at <span className="font-mono text-sm [overflow-wrap:anywhere]">{pathname}</span>. The address may be mistyped, or what
      it showed was removed. The search at the top finds everything there is by its name.
    </ErrorPage>
  );
}
