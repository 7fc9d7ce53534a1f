import type { ReactNode } from 'react';
import { Wordmark } from '#components/shell/mark.tsx';
import { TestBand } from '#components/ui/test-band.tsx';

/** A decision by itself: one column, nothing beside it that could be mistaken for it. */
export const DecisionLayout = ({ title, inTest, children }: { title: ReactNode; inTest?: boolean; children: ReactNode }) => (
  <div className="flex min-h-dvh flex-col">
    <link rel="icon" type="image/svg+xml" href="/icon.svg" />
    {inTest && <TestBand />}
    <header className="px-5 pt-6 sm:px-10">
      <Wordmark />
    </header>
    <main className="mx-auto flex w-full max-w-lg flex-1 flex-col gap-5 px-5 py-8 sm:py-12">
      <h1 className="text-balance font-semibold text-2xl [overflow-wrap:anywhere]">{title}</h1>
      {children}
    </main>
  </div>
);
