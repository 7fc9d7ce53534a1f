'use client';

import { usePathname } from 'next/navigation';
import type { ReactNode } from 'react';
import { ForbiddenNote } from '#components/roles/forbidden-note.tsx';
import { forbiddenTo } from '#components/roles/forbidden-reason.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { neededFor, type Place } from './navigation.ts';

/** A page, or in its place which role it needs: asking the server for what it refuses would only fill the page with refusals (70 §12). */
export function PageGate({ place, children }: { place: Place; children: ReactNode }) {
  const { role } = useScope();
  const needed = neededFor(usePathname(), place);
  if (!needed || !forbiddenTo(role, needed.capability)) return children;
  return (
    <Page>
      <PageHeader title={needed.item.label} />
      <ForbiddenNote capability={needed.capability} what="this page" />
    </Page>
  );
}
