'use client';

import type { ReactNode } from 'react';
import { CopyText } from './copy.tsx';
import { onDemand } from './on-demand.ts';

const view = onDemand(() => import('./toaster-view.tsx').then((module) => module.ToasterView));

/** The corner where short notices appear; mounted once by the root layout. */
export function Toaster() {
  const View = view.use(false);
  return View ? <View /> : null;
}

/** The corner listens from its mounting on: what is said before that would be heard by nobody. */
async function toasts() {
  view.fetch();
  const { toast, cornerMounted } = await import('./toaster-view.tsx');
  await cornerMounted;
  return toast;
}

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

/** Something to know, that asks for nothing. */
export function notify(message: string, description?: ReactNode): void {
  void toasts().then((toast) => toast.info(message, { description }));
}
