import { ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { Wordmark } from '#components/shell/mark.tsx';
import { LinkButton, PlainLinkButton } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { Link } from '#components/ui/link.tsx';
import { MarkdownText } from './markdown.tsx';
import { outlineOf } from './outline.ts';

/** A page as the navigation knows it. */
export type DocsLink = { section: string; title: string; href: string };

/** One page of the documentation, for anyone, signed in or not. `markdown` is the whole page; its twin for programs is `${href}.md`. */
export function DocsPage({ pages, href, markdown }: { pages: readonly DocsLink[]; href: string; markdown: string }) {
  const at = pages.findIndex((page) => page.href === href);
  const [previous, next] = [pages[at - 1], pages[at + 1]];
  const outline = outlineOf(markdown);
  return (
    <>
      <link rel="icon" type="image/svg+xml" href="/icon.svg" />
      <header className="sticky top-0 z-10 border-line border-b bg-canvas">
        <div className="mx-auto flex h-(--topbar-height) max-w-360 items-center justify-between gap-4 px-4 sm:px-6 lg:px-8">
          <span className="flex items-center gap-2.5">
            <Link href="/" aria-label="Sallyport, to the dashboard" className="rounded-md">
              <Wordmark />
            </Link>
            <Link href="/docs" className="rounded-sm text-ink-2 hover:text-ink">
              Docs
            </Link>
          </span>
          <span className="flex items-center gap-1">
            <PlainLinkButton href="/openapi.json" variant="ghost" size="sm" className="max-sm:hidden">
              OpenAPI
            </PlainLinkButton>
            <LinkButton href="/changelog" variant="ghost" size="sm" className="max-sm:hidden">
              Changelog
            </LinkButton>
            <LinkButton href="/" size="sm">
              Dashboard
            </LinkButton>
          </span>
        </div>
      </header>
      <div className="mx-auto flex w-full max-w-360 gap-8 px-4 sm:px-6 lg:px-8 max-lg:flex-col max-lg:gap-0">
        <details className="group border-line border-b py-2 lg:hidden">
          <summary className="flex min-h-8 cursor-pointer list-none items-center gap-2 rounded-sm font-medium">
            All pages <ChevronDown aria-hidden className="size-4 text-ink-3 group-open:rotate-180" />
          </summary>
          <Contents pages={pages} href={href} label="All pages" />
        </details>
        <Side className="w-52 max-lg:hidden">
          <Contents pages={pages} href={href} label="Documentation" />
        </Side>
        <main className="flex min-w-0 max-w-3xl flex-1 flex-col gap-4 py-8">
          <MarkdownText text={markdown} />
          <nav aria-label="Next and previous page" className="mt-8 flex flex-wrap justify-between gap-3 border-line border-t pt-4">
            {previous ? <LinkButton href={previous.href}>← {previous.title}</LinkButton> : <span />}
            {next && <LinkButton href={next.href}>{next.title} →</LinkButton>}
          </nav>
          <p className="text-ink-3 text-xs">
            <a href={`${href === '/docs' ? '/docs/index' : href}.md`} className="rounded-xs underline underline-offset-2 hover:text-ink">
              This page as Markdown
            </a>
          </p>
        </main>
        {outline.length > 1 && (
          <Side className="ml-auto w-52 max-xl:hidden">
            <nav aria-label="On this page">
              <p className="mb-2 font-medium text-xs">On this page</p>
              <ul className="flex flex-col gap-1.5 text-ink-3 text-xs">
                {outline.map(({ id, text, level }) => (
                  <li key={id} className={level === 3 ? 'pl-3' : undefined}>
                    <a href={`#${id}`} className="rounded-xs hover:text-ink">
                      {text}
                    </a>
                  </li>
                ))}
              </ul>
            </nav>
          </Side>
        )}
      </div>
    </>
  );
}

const Side = ({ className, children }: { className: string; children: ReactNode }) => (
  <div
    className={cn(
      'sticky top-(--topbar-height) max-h-[calc(100dvh-var(--topbar-height))] shrink-0 self-start overflow-y-auto py-8',
      className,
    )}
  >
    {children}
  </div>
);

function Contents({ pages, href, label }: { pages: readonly DocsLink[]; href: string; label: string }) {
  const sections = [...new Set(pages.map(({ section }) => section))];
  return (
    <nav aria-label={label} className="flex flex-col gap-5 max-lg:py-3">
      {sections.map((section) => (
        <div key={section}>
          <p className="mb-1 px-2 font-medium text-xs">{section}</p>
          <ul className="flex flex-col">
            {pages
              .filter((page) => page.section === section)
              .map((page) => (
                <li key={page.href}>
                  <Link
                    href={page.href}
                    aria-current={page.href === href ? 'page' : undefined}
                    className={cn(
                      'block rounded-sm px-2 py-1',
                      page.href === href ? 'bg-subtle font-medium text-ink' : 'text-ink-2 hover:text-ink',
                    )}
                  >
                    {page.title}
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
