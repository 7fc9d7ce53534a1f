'use client';

import { Dialog } from '#components/ui/dialog.tsx';
import { type Hotkey, useListedHotkeys } from '#components/ui/hotkeys.ts';
import { Kbd } from '#components/ui/kbd.tsx';
import { Link } from '#components/ui/link.tsx';

/** The keys that work on this page now, over it. */
export function ShortcutSheet({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Keyboard shortcuts"
      description={
        <>
          Shortcuts are off while you type in a field.{' '}
          <Link href="/me/preferences" className="text-accent-ink underline underline-offset-2" onClick={() => onOpenChange(false)}>
            Turn off single-key shortcuts
          </Link>
        </>
      }
      size="lg"
    >
      <ShortcutList />
    </Dialog>
  );
}

/** The keys that work on this page now, grouped; filled by every `useHotkeys` that gives a label. */
export function ShortcutList() {
  const listed = useListedHotkeys();
  const groups = new Map<string, Map<string, Hotkey>>();
  for (const hotkey of listed) {
    const name = hotkey.group ?? 'Page';
    groups.set(name, (groups.get(name) ?? new Map()).set(hotkey.keys, hotkey));
  }
  return (
    <div className="grid gap-x-10 gap-y-5 pb-3 sm:grid-cols-2">
      {[...groups].map(([name, hotkeys]) => (
        <section key={name}>
          <h3 className="pb-1 font-medium text-ink-3 text-xs">{name}</h3>
          <dl>
            {[...hotkeys.values()].map((hotkey) => (
              <div key={hotkey.keys} className="flex min-h-8 items-center justify-between gap-4 border-line border-b last:border-b-0">
                <dt>{hotkey.label}</dt>
                <dd>
                  <Kbd keys={hotkey.keys} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
