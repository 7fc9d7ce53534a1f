'use client';

import { ErrorPage } from '#components/shell/error-page.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';

export type PageFailedProps = { error: Error & { digest?: string }; reset: () => void };

/** What stands in the place of a page that threw. `inset`: inside the frame, so that every other page stays one click away. */
export const PageFailed = ({ error, reset, inset = false }: PageFailedProps & { inset?: boolean }) => (
  <ErrorPage
    inset={inset}
    code="500"
    title="This page could not be shown"
    digest={error.digest}
    actions={
      <>
        <Button variant="primary" onClick={reset}>
          Try again
        </Button>
        <LinkButton href="/">Go to your workspace</LinkButton>
      </>
    }
  >
    Something failed on our side. Nothing you did was lost; proxied calls are not affected by the dashboard.
  </ErrorPage>
);
