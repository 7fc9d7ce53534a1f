import { docsMarkdown } from '#server/api/docs/texts.ts';

export const dynamic = 'force-dynamic';

/** `/docs/{slug}.md`, by a rewrite in next.config.ts. */
export const GET = async (_: Request, { params }: { params: Promise<{ slug: string }> }) => docsMarkdown((await params).slug);
