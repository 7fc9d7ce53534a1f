'use client';

import { ErrorPage } from '#components/shell/error-page.tsx';
import { Wordmark } from '#components/shell/mark.tsx';
import './globals.css';

/** Replaces the whole document when the root layout itself failed. */
export default function GlobalError({ error }: { error: Error & { digest?: string } }) {
  return (
    <html lang="en">
      <body>
        <ErrorPage header={<Wordmark />} code="500" title="The dashboard could not start" digest={error.digest}>
          Reload the page in a moment. Proxied calls are not affected.
        </ErrorPage>
      </body>
    </html>
  );
}
