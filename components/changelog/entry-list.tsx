import { Badge } from '#components/ui/badge.tsx';
import { textLink } from '#components/ui/layout.tsx';
import type { ChangelogArea, ChangelogEntry } from '#server/domain/changelog/entries.shared.ts';

export const areaWords: Record<ChangelogArea, string> = { api: 'API', dashboard: 'Dashboard' };

/** Entries in full: what changed, when, and who must act. */
export function EntryList({ entries, level: Heading }: { entries: readonly ChangelogEntry[]; level: 'h2' | 'h3' }) {
  return (
    <ol className="flex flex-col divide-y divide-line">
      {entries.map((entry) => (
        <li key={entry.id} id={entry.id} className="flex scroll-mt-4 flex-col gap-1.5 py-5 first:pt-0">
          <p className="flex flex-wrap items-center gap-2 text-ink-3 text-xs">
            <time dateTime={entry.date} className="figures">
              {entry.date}
            </time>
            {entry.areas.map((area) => (
              <Badge key={area}>{areaWords[area]}</Badge>
            ))}
          </p>
          <Heading className="font-semibold text-base">{entry.title}</Heading>
          <p className="max-w-2xl text-ink-2">{entry.text}</p>
          <p className="max-w-2xl text-ink-2">{entry.act ?? 'No action required.'}</p>
          <a href={entry.link.path} className={`${textLink} w-fit`}>
            {entry.link.label}
          </a>
        </li>
      ))}
    </ol>
  );
}
