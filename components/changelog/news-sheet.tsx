'use client';

import { useState } from 'react';
import { LinkButton } from '#components/ui/button.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { CHANGELOG, CHANGELOG_AREAS, type ChangelogArea } from '#server/domain/changelog/entries.shared.ts';
import { areaWords, EntryList } from './entry-list.tsx';

/** The changelog beside the page one is on. */
export function NewsSheet({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const [area, setArea] = useState<ChangelogArea | 'all'>('all');
  return (
    <Sheet
      open={open}
      onOpenChange={onOpenChange}
      title="What’s new"
      actions={
        <LinkButton size="sm" variant="ghost" href="/changelog">
          Open page
        </LinkButton>
      }
    >
      <div className="flex flex-col items-start gap-5">
        <Segmented
          label="Area"
          size="sm"
          options={[{ value: 'all', label: 'All' }, ...CHANGELOG_AREAS.map((value) => ({ value, label: areaWords[value] }))]}
          value={area}
          onValueChange={setArea}
        />
        <EntryList entries={CHANGELOG.filter(({ areas }) => area === 'all' || areas.includes(area))} level="h3" />
      </div>
    </Sheet>
  );
}
