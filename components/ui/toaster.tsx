'use client';

import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { CopyText } from './copy.tsx';

const View = lazy(() => import('./toaster-view.tsx').then((module) => ({ default: module.ToasterView })));

/** The corner where short notices appear; mounted once by the root layout. Its code comes after the page's own. */
export function Toaster() {
  const [mounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  return <Suspense fallback={null}>{mounted && <View />}</Suspense>;
}

const toasts = () => import('sonner').then((module) => module.toast);

/** Something was done. With `undo` the notice stays ten seconds. */
export function notifyDone(message: string, undo?: { label?: string; run: () => void }): void {
  void toasts().then((toast) =>
    toast.success(message, undo && { duration: 10_000, action: { label: undo.label ?? 'Undo', onClick: undo.run } }),
  );
}

/** Something failed that the page cannot show in its place. What stays wrong belongs inline instead. */
export function notifyFailed(message: string, requestId?: string): void {
  const description = requestId && <CopyText value={requestId} label="request id" />;
  void toasts().then((toast) => toast.error(message, { duration: 12_000, description }));
}

export function notify(message: string, description?: ReactNode): void {
  void toasts().then((toast) => toast.info(message, { description }));
}
