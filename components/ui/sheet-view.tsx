'use client';

import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { IconButton } from './button.tsx';
import { firstField } from './initial-focus.ts';
import { LayerHost } from './layer-host.ts';
import { ResizeHandle } from './resize-handle.tsx';
import { scrim } from './scrim.ts';

const widths = { sm: 420, md: 560, lg: 760 } as const;

export type SheetProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  /** Beside the close button: copy link, previous, next. */
  actions?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  size?: 'sm' | 'md' | 'lg';
  /** False: the page behind stays usable, for a row's details next to its list. */
  modal?: boolean;
  /** The left edge can be dragged, or moved with the arrow keys. */
  resizable?: boolean;
  /** False: a click outside does not close it, for forms with something typed in. Esc and the close button still ask the caller. */
  dismissible?: boolean;
};

/** What `Sheet` shows, once it was opened. */
export function SheetView(props: SheetProps) {
  const {
    open,
    onOpenChange,
    title,
    description,
    actions,
    children,
    footer,
    size = 'md',
    modal = true,
    resizable,
    dismissible = true,
  } = props;
  const [width, setWidth] = useState<number>(widths[size]);
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={onOpenChange} modal={modal} disablePointerDismissal={!modal || !dismissible}>
      <Base.Portal>
        {modal && <Base.Backdrop className={scrim} />}
        <Base.Popup
          ref={popup}
          aria-modal={modal || undefined}
          // Beside a list the panel is read, not filled in: its first control must not swallow the keys that move on in the list.
          initialFocus={modal ? () => firstField(popup.current) : popup}
          style={{ maxWidth: `min(100vw, ${width.toString()}px)` }}
          className="fixed inset-y-0 right-0 z-50 flex w-full flex-col border-line-strong border-l bg-overlay text-ink shadow-overlay outline-none transition-[translate,opacity] duration-200 ease-out data-ending-style:translate-x-8 data-starting-style:translate-x-8 data-ending-style:opacity-0 data-starting-style:opacity-0"
        >
          <LayerHost value={popup}>
            {resizable && <ResizeHandle side="left" label="Panel width" size={width} onSize={setWidth} least={360} most={0.92} />}
            <div className="flex items-start gap-2 border-line border-b px-5 py-3">
              <div className="min-w-0 flex-1">
                <Base.Title className="truncate font-semibold text-lg">{title}</Base.Title>
                {description && <Base.Description className="text-ink-2">{description}</Base.Description>}
              </div>
              <div className="-mr-1.5 flex items-center gap-0.5">
                {actions}
                <Base.Close render={<IconButton label="Close" keys="escape" size="sm" icon={<X />} tooltipSide="bottom" />} />
              </div>
            </div>
            <div className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto overscroll-contain px-5 py-4">{children}</div>
            {footer && (
              <div className="flex flex-wrap items-center justify-end gap-2 border-line border-t bg-overlay px-5 py-3">{footer}</div>
            )}
          </LayerHost>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
