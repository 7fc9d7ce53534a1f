import { env } from '#server/platform/env.ts';
import { docsPage, docsPages, docsPath, SECTIONS } from './pages.ts';

/** A page of the documentation as Markdown, for programs. */
export function docsMarkdown(slug: string): Response {
  const page = docsPage(slug);
  return page ? text(page.markdown, 'text/markdown') : text('There is no such page. See /llms.txt for all pages.\n', 'text/plain', 404);
}

/** All pages with their summaries, in the llms.txt format (llmstxt.org). */
export function docsIndex(): Response {
  const lines = SECTIONS.flatMap((section) => {
    const pages = docsPages().filter((page) => page.section === section);
    const entries = pages.map((page) => `- [${page.title}](${env.PUBLIC_ADMIN_URL}/docs/${page.slug}.md): ${page.summary}`);
    return pages.length > 0 ? ['', `## ${section}`, '', ...entries] : [];
  });
  const [home] = docsPages().filter((page) => docsPath(page) === '/docs');
  return text(['# Sallyport', '', `> ${home?.summary ?? ''}`, ...lines, ''].join('\n'), 'text/markdown');
}

const text = (body: string, type: string, status = 200) =>
  new Response(body, {
    status,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    },
  });
