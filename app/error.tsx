'use client';

import { ErrorPage } from '#components/shell/error-page.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';

export default function ErrorBoundary({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <ErrorPage
      inset
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
}
