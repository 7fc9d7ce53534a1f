import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

/** A line over every page about the page itself. The place is always there, so that readers of the screen tell what comes into it. */
export function StatusBar({ icon: Icon, children }: { icon: LucideIcon; children: ReactNode }) {
  return (
    <div role="status">
      {children && (
        <p className="flex items-center justify-center gap-2 border-warn-line border-b bg-warn-soft px-4 py-1.5 text-warn-ink text-xs">
          <Icon aria-hidden className="size-3.5 shrink-0" />
          <span>{children}</span>
        </p>
      )}
    </div>
  );
}
