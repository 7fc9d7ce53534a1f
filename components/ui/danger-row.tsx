import type { ReactNode } from 'react';

/** One thing that cannot be undone, in a danger zone: what it is called, what it does, and its button. */
export function DangerRow({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0 flex-1 basis-64">
        <p className="font-medium">{title}</p>
        <p className="max-w-xl text-pretty text-ink-2">{text}</p>
      </div>
      {children}
    </div>
  );
}
