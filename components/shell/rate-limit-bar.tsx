'use client';

import { Hourglass } from 'lucide-react';
import { useIsWaiting } from '#components/trpc/rate-limit-link.ts';
import { StatusBar } from './status-bar.tsx';

/** Stands over the page while calls of this tab wait because it asked for more than one session may. */
export function RateLimitBar() {
  return <StatusBar icon={Hourglass}>{useIsWaiting() && 'Too many requests at once. The rest will load in a few seconds.'}</StatusBar>;
}
