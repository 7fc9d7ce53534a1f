'use client';

import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, type RefObject, useRef } from 'react';
import { IconButton } from './button.tsx';
import { cn } from './cn.ts';
import { firstField } from './initial-focus.ts';
import { LayerHost } from './layer-host.ts';
import { scrim } from './scrim.ts';

const widths = { sm: 'sm:max-w-md', md: 'sm:max-w-lg', lg: 'sm:max-w-2xl' } as const;

export type DialogProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons, the main one last. */
  footer?: ReactNode;
  size?: 'sm' | 'md' | 'lg';
  /** False: only the buttons close it, for what must not be lost by a stray click or Esc. */
  dismissible?: boolean;
  initialFocus?: RefObject<HTMLElement | null>;
};

/** What `Dialog` shows, once it was opened. */
export function DialogView({
  open,
  onOpenChange,
  title,
  description,
  children,
  footer,
  size = 'sm',
  dismissible = true,
  initialFocus,
}: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={(next) => (next || dismissible) && onOpenChange(next)} disablePointerDismissal={!dismissible}>
      <Base.Portal>
        {/* Over an open panel, too: what it asks about must not look like a part of the panel. */}
        <Base.Backdrop forceRender className={cn(scrim, 'z-50')} />
        <Base.Viewport className="fixed inset-0 z-50 flex items-end justify-center overflow-y-auto sm:items-center sm:p-6">
          <Base.Popup
            ref={popup}
            aria-modal="true"
            initialFocus={initialFocus ?? (() => firstField(popup.current))}
            className={cn(
              'popup-surface flex max-h-[92dvh] w-full flex-col rounded-b-none transition-[opacity,translate,scale] duration-150 ease-out data-ending-style:translate-y-2 data-starting-style:translate-y-2 data-ending-style:opacity-0 data-starting-style:opacity-0 sm:max-h-[86dvh] sm:rounded-xl sm:data-starting-style:scale-98',
              widths[size],
            )}
          >
            <LayerHost value={popup}>
              <div className="flex items-start gap-3 px-5 pt-4 pb-1">
                <div className="min-w-0 flex-1">
                  <Base.Title className="font-semibold text-lg">{title}</Base.Title>
                  {description && <Base.Description className="mt-1 text-ink-2">{description}</Base.Description>}
                </div>
                {dismissible && <Base.Close render={<IconButton label="Close" size="sm" icon={<X />} className="-mr-1.5" />} />}
              </div>
              <div className="flex min-h-0 flex-col gap-4 overflow-y-auto px-5 py-3">{children}</div>
              {footer && <div className="flex flex-wrap justify-end gap-2 border-line border-t px-5 py-3">{footer}</div>}
            </LayerHost>
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}
