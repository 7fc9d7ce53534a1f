'use client';

import { lazyOverlay } from '#components/ui/lazy.tsx';

/** The panel of one call, whose code comes when the list has settled or a call is open. */
export const InspectorSheet = lazyOverlay(
  () => import('./inspector.tsx').then((module) => module.InspectorSheet),
  ({ requestId }) => requestId !== null,
);
