'use client';

import { lazyTab } from '#components/ui/lazy.tsx';

/** The trail of one resource, as a tab of its page. */
export const Activity = lazyTab(() => import('./activity.tsx').then((module) => module.Activity));
