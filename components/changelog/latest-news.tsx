import { LinkButton } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { CHANGELOG } from '#server/domain/changelog/entries.shared.ts';

const SHOWN = 3;

/** The newest entries, for Home. Drawn by the server only: the entries are not among what the page brings. */
export const LatestNews = () => (
  <SectionCard
    title="What’s new"
    actions={
      <LinkButton size="sm" variant="ghost" href="/changelog">
        Changelog
      </LinkButton>
    }
  >
    <ul className="flex flex-col gap-2">
      {CHANGELOG.slice(0, SHOWN).map(({ id, title, date }) => (
        <li key={id} className="flex items-baseline justify-between gap-3">
          <Link href={`/changelog#${id}`} className="min-w-0 rounded-xs hover:underline">
            {title}
          </Link>
          <time dateTime={date} className="figures shrink-0 text-ink-3 text-xs">
            {date}
          </time>
        </li>
      ))}
    </ul>
  </SectionCard>
);
