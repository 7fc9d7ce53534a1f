'use client';

import './globals.css';

/** Replaces the whole document when the root layout itself failed; it leans on nothing that could have failed with it. */
export default function GlobalError({ error }: { error: Error & { digest?: string } }) {
  return (
    <html lang="en">
      <body>
        <main className="mx-auto flex min-h-dvh w-full max-w-md flex-col justify-center px-5">
          <p className="font-medium font-mono text-ink-3 text-xs">Sallyport 500</p>
          <h1 className="mt-1 font-semibold text-2xl">The dashboard failed to load</h1>
          <p className="mt-2 text-base text-ink-2">Reload the page in a moment. Calls through the gateway are not affected.</p>
          {error.digest && (
            <p className="mt-6 text-ink-3 text-xs">
              Reference <code className="select-all font-mono">{error.digest}</code>
            </p>
          )}
        </main>
      </body>
    </html>
  );
}
