'use client';

import { CircleAlert, CircleCheck, Info } from 'lucide-react';
import type { ReactNode } from 'react';
import { Toaster as Sonner, toast } from 'sonner';
import { useAppearance } from '#components/theme/appearance-provider.tsx';
import { CopyText } from './copy.tsx';

/** The corner where short notices appear; mounted once by the root layout. */
export function Toaster() {
  const { theme } = useAppearance();
  return (
    <Sonner
      theme={theme === 'dark' ? 'dark' : theme === 'light' ? 'light' : 'system'}
      position="bottom-right"
      gap={8}
      icons={{
        success: <CircleCheck className="size-4 text-good-ink" />,
        error: <CircleAlert className="size-4 text-bad-ink" />,
        info: <Info className="size-4 text-ink-3" />,
      }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast: 'popup-surface flex w-full items-start gap-2.5 px-3.5 py-3 font-sans text-sm sm:w-90',
          title: 'font-medium',
          description: 'text-ink-2',
          content: 'min-w-0 flex-1',
          actionButton: 'ml-auto shrink-0 rounded-sm border border-line-strong px-2 py-0.5 text-xs hover:bg-subtle',
        },
      }}
    />
  );
}

/** Something was done. With `undo` the notice stays ten seconds. */
export function notifyDone(message: string, undo?: { label?: string; run: () => void }): void {
  toast.success(message, undo && { duration: 10_000, action: { label: undo.label ?? 'Undo', onClick: undo.run } });
}

/** Something failed that the page cannot show in its place. What stays wrong belongs inline instead. */
export function notifyFailed(message: string, requestId?: string): void {
  toast.error(message, { duration: 12_000, description: requestId && <CopyText value={requestId} label="request id" /> });
}

export const notify = (message: string, description?: ReactNode): void => void toast.info(message, { description });
