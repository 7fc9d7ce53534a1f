import { docsIndex } from '#server/api/docs/texts.ts';

export const dynamic = 'force-dynamic';
export { docsIndex as GET };
