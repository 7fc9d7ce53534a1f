'use client';

import { PageFailed, type PageFailedProps } from '#components/shell/page-failed.tsx';

export default function ErrorBoundary(props: PageFailedProps) {
  return <PageFailed {...props} />;
}
