'use client';

import { Wordmark } from '#components/shell/mark.tsx';
import { PageFailed, type PageFailedProps } from '#components/shell/page-failed.tsx';

/** What failed outside every frame, or a frame itself. */
export default function ErrorBoundary(props: PageFailedProps) {
  return <PageFailed {...props} header={<Wordmark />} />;
}
