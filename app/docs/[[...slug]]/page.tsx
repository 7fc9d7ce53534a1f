import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { DocsPage } from '#components/docs/docs-page.tsx';
import { docsPage, docsPages, docsPath } from '#server/api/docs/pages.ts';

type Params = { params: Promise<{ slug?: string[] }> };

const pageAt = async ({ params }: Params) => {
  const { slug = ['index'] } = await params;
  return (slug.length === 1 && docsPage(slug[0] as string)) || notFound();
};

export async function generateMetadata(at: Params): Promise<Metadata> {
  const { slug, title, summary } = await pageAt(at);
  const markdown = { types: { 'text/markdown': `/docs/${slug}.md` } };
  return { title: slug === 'index' ? 'Documentation' : `${title} · Docs`, description: summary, alternates: markdown };
}

export default async function Docs(at: Params) {
  const page = await pageAt(at);
  const pages = docsPages().map((one) => ({ section: one.section, title: one.title, href: docsPath(one) }));
  return <DocsPage pages={pages} href={docsPath(page)} markdown={page.markdown} />;
}
