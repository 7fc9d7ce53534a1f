'use client';

import { Bell } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '#components/ui/button.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { useInbox } from './use-inbox.ts';

const InboxSheet = lazyOverlay(() => import('./inbox-sheet.tsx').then((module) => module.InboxSheet), whenOpen);

/** The bell of the top bar: how many notifications are unread, and the newest of them beside the page. */
export function InboxBell() {
  const [open, setOpen] = useState(false);
  const unread = useInbox()?.unread ?? 0;
  return (
    <>
      <IconButton
        label={unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`}
        aria-haspopup="dialog"
        icon={
          <span className="relative">
            <Bell aria-hidden />
            {unread > 0 && (
              <span
                aria-hidden
                className="figures -top-2 -right-2.5 absolute min-w-4 rounded-full border border-canvas bg-accent px-0.5 text-center text-2xs text-on-accent leading-4"
              >
                {unread > 99 ? '99+' : unread}
              </span>
            )}
          </span>
        }
        onClick={() => setOpen(true)}
        tooltipSide="bottom"
      />
      <InboxSheet open={open} onOpenChange={setOpen} />
    </>
  );
}
