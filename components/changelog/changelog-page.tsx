import { Rss } from 'lucide-react';
import { Wordmark } from '#components/shell/mark.tsx';
import { LinkButton, PlainLinkButton } from '#components/ui/button.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { CHANGELOG, CHANGELOG_AREAS } from '#server/domain/changelog/entries.shared.ts';
import { areaWords, EntryList } from './entry-list.tsx';

/** What changed, for anybody: signed in or not (interface rule 64 §9). `area` as the address has it. */
export function ChangelogPage({ area: asked }: { area: string | string[] | undefined }) {
  const area = CHANGELOG_AREAS.find((known) => known === asked);
  const entries = area ? CHANGELOG.filter(({ areas }) => areas.includes(area)) : CHANGELOG;
  return (
    <>
      <link rel="icon" type="image/svg+xml" href="/icon.svg" />
      <header className="border-line border-b">
        <div className="px-4 sm:px-6 lg:px-8">
          <div className="mx-auto flex h-(--topbar-height) max-w-3xl items-center">
            <Link href="/" aria-label="Sallyport dashboard" className="rounded-md">
              <Wordmark />
            </Link>
          </div>
        </div>
      </header>
      <main>
        <Page className="mx-auto max-w-3xl">
          <PageHeader
            title="Changelog"
            description="New features and changes. Calls to /v1 keep working unless an entry says otherwise."
            actions={
              <PlainLinkButton href="/changelog.xml" icon={<Rss />}>
                RSS
              </PlainLinkButton>
            }
          />
          <nav aria-label="Areas" className="flex flex-wrap gap-1.5">
            {[undefined, ...CHANGELOG_AREAS].map((one) => (
              <LinkButton
                key={one ?? 'all'}
                size="sm"
                variant={one === area ? 'secondary' : 'ghost'}
                href={one ? `/changelog?area=${one}` : '/changelog'}
                aria-current={one === area ? 'page' : undefined}
              >
                {one ? areaWords[one] : 'All'}
              </LinkButton>
            ))}
          </nav>
          <EntryList entries={entries} level="h2" />
        </Page>
      </main>
    </>
  );
}
