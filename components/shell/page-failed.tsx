'use client';

import type { ReactNode } from 'react';
import { ErrorPage } from '#components/shell/error-page.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';

export type PageFailedProps = { error: Error & { digest?: string }; reset: () => void };

/** What stands in the place of a page that threw; without a `header` inside the frame, so that every other page stays one click away. */
export const PageFailed = ({ error, reset, header }: PageFailedProps & { header?: ReactNode }) => (
  <ErrorPage
    header={header}
    code="500"
    title="This page couldn’t load"
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
    Something went wrong on our side. Saved changes and proxied calls aren’t affected.
  </ErrorPage>
);
