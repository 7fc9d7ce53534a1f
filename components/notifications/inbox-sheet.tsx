'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Inbox } from './inbox.tsx';

/** The newest notifications beside the page one is on. */
export function InboxSheet({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const { slug } = useScope();
  return (
    <Sheet
      open={open}
      onOpenChange={onOpenChange}
      title="Notifications"
      size="sm"
      actions={
        <LinkButton size="sm" variant="ghost" href={`/${slug}/settings/notifications`} onClick={() => onOpenChange(false)}>
          Open page
        </LinkButton>
      }
    >
      {open && <Inbox perPage={20} onFollow={() => onOpenChange(false)} />}
    </Sheet>
  );
}
