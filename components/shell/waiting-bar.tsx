'use client';

import { Hourglass } from 'lucide-react';
import { useIsWaiting } from '#components/trpc/patient-link.ts';
import { StatusBar } from './status-bar.tsx';

/** Stands over the page while calls of this tab wait because it asked for more than one session may. */
export function WaitingBar() {
  return (
    <StatusBar icon={Hourglass}>
      {useIsWaiting() && 'This session asked for very much at once. The rest follows in a few seconds; nothing is lost.'}
    </StatusBar>
  );
}
