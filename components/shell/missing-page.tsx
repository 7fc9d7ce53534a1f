import { LinkButton } from '#components/ui/button.tsx';
import { ErrorPage } from './error-page.tsx';
import { activeItem, hrefOf, type Place } from './navigation.ts';

/** Inside the frame, where an address leads to no page: which address, and the nearest page there is. `place` null: on the person's own pages. */
export function MissingPage({ path, place }: { path: string; place: Place | null }) {
  const near = place && activeItem(path, place);
  return (
    <ErrorPage
      code="404"
      title="Page not found"
      actions={
        <>
          {near && (
            <LinkButton variant="primary" href={hrefOf(near, place)}>
              Go to {near.label}
            </LinkButton>
          )}
          <LinkButton variant={near ? 'secondary' : 'primary'} href={place ? `/${place.slug}/${place.space}` : '/'}>
            Go to Home
          </LinkButton>
        </>
      }
    >
      There is no page at <span className="font-mono text-sm [overflow-wrap:anywhere]">{path}</span>. Check the URL, or use search to find
      what you need.
    </ErrorPage>
  );
}
